import Crypto
import EventTypes
import Foundation
import SwiftASN1
import X509

/// Tells the status of the certificates that this store's two authorities have issued.
///
/// Each authority's answers are signed by a certificate that the authority issued for that alone,
/// so that neither authority's own key is online.
struct OCSPResponder: Sendable {
    /// One authority: whom a request means, who answers for it, and what it has issued.
    struct Authority: Sendable {
        let certificate: Certificate
        let signer: OCSPResponse.Signer
        let register: CertificateIndex
    }

    /// An answer, and how long it may be kept.
    struct Answer: Sendable {
        let bytes: [UInt8]
        /// `nil` if it must not be kept.
        let freshUntil: Timestamp?
    }

    /// How long before it is signed an answer is dated, so that a verifier whose clock is behind
    /// does not take it for one of the future.
    static let backdating = Duration.seconds(300)
    /// How long an answer may be believed.
    static let validity = Duration.seconds(3600)
    /// How long a cache may hand out an answer: within it a revocation may go unnoticed.
    static let freshness = Duration.seconds(300)

    let authorities: [Authority]

    /// Answers a request.
    func answer(_ request: [UInt8], at now: Timestamp) throws -> Answer {
        let parsed: OCSPRequest
        do throws(OCSPRequest.Refusal) {
            parsed = try OCSPRequest(request)
        } catch {
            return Answer(bytes: try OCSPResponse.failure(.malformedRequest), freshUntil: nil)
        }
        // One answer has one signature, so it is given for one authority: that of the first
        // certificate. What another issued is unknown to this one.
        guard let first = parsed.certificates.first,
            let authority = authorities.first(where: { $0.isMeant(by: first) })
        else {
            return Answer(bytes: try OCSPResponse.failure(.unauthorized), freshUntil: nil)
        }
        let bytes = try OCSPResponse.signed(
            parsed.certificates.map { certificate in
                OCSPResponse.Single(
                    certificate: certificate,
                    status: authority.isMeant(by: certificate)
                        ? authority.register.status(of: certificate.serial) : .unknown
                )
            },
            nonce: parsed.nonce,
            by: authority.signer,
            at: now,
            thisUpdate: now.advanced(by: .zero - Self.backdating),
            nextUpdate: now.advanced(by: Self.validity)
        )
        return Answer(
            bytes: bytes,
            freshUntil: parsed.nonce == nil ? now.advanced(by: Self.freshness) : nil
        )
    }

    /// The status of the certificate of an authority, by the authority's place in the chain.
    func status(of serial: [UInt8], issuedBy index: Int) -> CertificateStatus {
        authorities.indices.contains(index)
            ? authorities[index].register.status(of: Array(serial.drop { $0 == 0 })) : .unknown
    }
}

extension OCSPResponder.Authority {
    /// Whether a request means this authority, by the hashes of its name and key.
    fileprivate func isMeant(by id: OCSPRequest.CertificateID) -> Bool {
        guard let hash = Self.hashes[id.hashAlgorithm] else { return false }
        var name = DER.Serializer()
        do {
            try name.serialize(certificate.subject)
        } catch {
            // It was read from DER, so it can be written; else nobody can mean it.
            return false
        }
        return id.issuerKeyHash == hash(Array(certificate.publicKey.subjectPublicKeyInfoBytes))
            && id.issuerNameHash == hash(name.serializedBytes)
    }

    /// With what verifiers hash, by name.
    private static let hashes: [ASN1ObjectIdentifier: @Sendable ([UInt8]) -> [UInt8]] = [
        [1, 3, 14, 3, 2, 26]: { Array(Insecure.SHA1.hash(data: $0)) },
        [2, 16, 840, 1, 101, 3, 4, 2, 1]: { Array(SHA256.hash(data: $0)) },
        [2, 16, 840, 1, 101, 3, 4, 2, 2]: { Array(SHA384.hash(data: $0)) },
        [2, 16, 840, 1, 101, 3, 4, 2, 3]: { Array(SHA512.hash(data: $0)) },
    ]
}

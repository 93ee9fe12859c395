import Crypto
import EventTypes
import Foundation
import SwiftASN1
import X509

/// Answers requests for the status of the certificates that this store's two authorities have
/// issued.
///
/// Each authority's answers are signed with a certificate that the authority issued only for that
/// purpose. So neither authority's own key is online.
struct OCSPResponder: Sendable {
    /// One authority: its certificate, its responder's signer, and the certificates it has issued.
    struct Authority: Sendable {
        let certificate: Certificate
        let signer: OCSPResponse.Signer
        let register: CertificateIndex
    }

    /// A response, and the time until which it may be cached.
    struct Answer: Sendable {
        let bytes: [UInt8]
        /// `nil` if it must not be cached.
        let freshUntil: MachineTime?
    }

    /// The time by which responses are backdated, so that a verifier whose clock is slow does not
    /// refuse them as lying in the future.
    static let backdating = Duration.seconds(300)
    /// The time for which a response is valid.
    static let validity = Duration.seconds(3600)
    /// The time for which a cache may serve a response.
    ///
    /// A revocation may go unnoticed for as long.
    static let freshness = Duration.seconds(300)

    let authorities: [Authority]

    /// Returns the response to a request.
    func answer(_ request: [UInt8], at now: MachineTime) throws -> Answer {
        let parsed: OCSPRequest
        do throws(OCSPRequest.Refusal) {
            parsed = try OCSPRequest(request)
        } catch {
            return Answer(bytes: try OCSPResponse.failure(.malformedRequest), freshUntil: nil)
        }
        // A response has one signature, so it speaks for one authority: that of the first
        // certificate. The other authority's certificates are unknown to it.
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

    /// Returns the status of a certificate, given its issuer's position in the chain.
    func status(of serial: [UInt8], issuedBy index: Int) -> CertificateStatus {
        authorities.indices.contains(index)
            ? authorities[index].register.status(of: Array(serial.drop { $0 == 0 })) : .unknown
    }
}

extension OCSPResponder.Authority {
    /// Whether a request names this authority, by the hashes of its name and key.
    fileprivate func isMeant(by id: OCSPRequest.CertificateID) -> Bool {
        guard let hash = Self.hashes[id.hashAlgorithm] else { return false }
        var name = DER.Serializer()
        do {
            try name.serialize(certificate.subject)
        } catch {
            // It was read from DER, so it can be written. Otherwise no request can name it.
            return false
        }
        return id.issuerKeyHash == hash(Array(certificate.publicKey.subjectPublicKeyInfoBytes))
            && id.issuerNameHash == hash(name.serializedBytes)
    }

    /// The hash functions that verifiers use, by algorithm.
    private static let hashes: [ASN1ObjectIdentifier: @Sendable ([UInt8]) -> [UInt8]] = [
        [1, 3, 14, 3, 2, 26]: { Array(Insecure.SHA1.hash(data: $0)) },
        [2, 16, 840, 1, 101, 3, 4, 2, 1]: { Array(SHA256.hash(data: $0)) },
        [2, 16, 840, 1, 101, 3, 4, 2, 2]: { Array(SHA384.hash(data: $0)) },
        [2, 16, 840, 1, 101, 3, 4, 2, 3]: { Array(SHA512.hash(data: $0)) },
    ]
}

import Crypto
import EventTypes
import Foundation
import SwiftASN1
import X509

/// The key that signs receipts, and its three certificates: leaf, intermediate, root.
///
/// Creating a chain checks all of the requirements of Apple's verifier (spec section 2.4), so a
/// store with an unacceptable chain does not start. The key never leaves this value: it is in no
/// description, error or log.
struct SigningChain: Sendable, CustomStringConvertible {
    /// SHA-256 of the leaf certificate, which identifies the chain of a stored receipt.
    let leafSHA256: [UInt8]
    /// The protected header of every receipt of this chain, in base64url.
    let header: String
    /// The leaf, intermediate and root certificates.
    let certificates: [Certificate]
    /// The root certificate in DER, for clients to pin.
    let rootCertificate: [UInt8]
    /// The first moment at which all three certificates are valid.
    let validFrom: MachineTime
    /// The last moment at which all three certificates are valid.
    let validUntil: MachineTime
    /// The signing key, which only ``ReceiptSigner`` uses.
    let privateKey: P256.Signing.PrivateKey

    /// The chain's id in events: the SHA-256 of its leaf, in hexadecimal.
    var id: String {
        leafSHA256.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
    }

    var description: String { "SigningChain(\(id))" }

    /// Reads and checks a key and its chain.
    ///
    /// - Parameters:
    ///   - key: A P-256 private key in PEM, PKCS#8 or SEC 1.
    ///   - certificates: Three certificates in PEM: leaf, intermediate, root.
    ///   - now: The time at which they have to be valid.
    /// - Throws: ``SigningChainRefusal`` with all problems, not only the first.
    init(key: [UInt8], certificates: [UInt8], at now: MachineTime) throws(SigningChainRefusal) {
        var refusal = SigningChainRefusal()
        let privateKey = Self.privateKey(key, &refusal)
        let documents = Self.certificates(certificates, &refusal)
        var check = SigningChainCheck(documents.map(\.certificate))
        check.run(at: now.date, privateKey: privateKey)
        refusal.chainProblems += check.problems
        guard refusal.isEmpty, let privateKey, documents.count == 3 else { throw refusal }

        self.privateKey = privateKey
        leafSHA256 = Array(SHA256.hash(data: documents[0].bytes))
        self.certificates = documents.map(\.certificate)
        rootCertificate = documents[2].bytes
        header = Self.header(documents.map(\.bytes))
        validFrom = documents.map { MachineTime($0.certificate.notValidBefore) }.max() ?? now
        validUntil = documents.map { MachineTime($0.certificate.notValidAfter) }.min() ?? now
    }

    /// Whether leaf and intermediate name an OCSP responder.
    ///
    /// Otherwise verifiers that check online refuse everything the chain signs.
    var tellsItsStatus: Bool {
        certificates.prefix(2).allSatisfy { certificate in
            // An unreadable extension counts as missing, because no verifier could use it.
            (try? certificate.extensions.authorityInformationAccess)?
                .contains { $0.method == .ocspServer } ?? false
        }
    }

    /// Whether all three certificates are valid at a moment.
    func isValid(at moment: MachineTime) -> Bool { moment >= validFrom && moment <= validUntil }

    private struct Document {
        let bytes: [UInt8]
        let certificate: Certificate
    }

    private static func privateKey(
        _ pem: [UInt8],
        _ refusal: inout SigningChainRefusal
    ) -> P256.Signing.PrivateKey? {
        do {
            return try P256.Signing.PrivateKey(
                pemRepresentation: String(decoding: pem, as: UTF8.self)
            )
        } catch {
            // The parser's message may quote the input, so it is not reported.
            refusal.keyProblems.append(
                "is not a P-256 private key in PEM; make one with "
                    + "`openssl ecparam -name prime256v1 -genkey -noout`"
            )
            return nil
        }
    }

    private static func certificates(
        _ pem: [UInt8],
        _ refusal: inout SigningChainRefusal
    ) -> [Document] {
        let documents: [Document]
        do {
            documents = try PEMDocument.parseMultiple(
                pemString: String(decoding: pem, as: UTF8.self)
            )
            .map { document in
                Document(
                    bytes: document.derBytes,
                    certificate: try Certificate(pemDocument: document)
                )
            }
        } catch {
            refusal.chainProblems.append("is not a file of certificates in PEM (\(error))")
            return []
        }
        if documents.count != 3 {
            refusal.chainProblems.append(
                "holds \(documents.count) certificates; it has to hold three, in this order: "
                    + "leaf, intermediate, root"
            )
            return []
        }
        return documents
    }

    private static func header(_ certificates: [[UInt8]]) -> String {
        let x5c = certificates.map { "\"\(Data($0).base64EncodedString())\"" }
        let json = "{\"alg\":\"ES256\",\"typ\":\"JWT\",\"x5c\":[\(x5c.joined(separator: ","))]}"
        return StrictBase64.text(json.utf8)
    }
}

/// All problems with a signing key and its chain, without a byte of either.
struct SigningChainRefusal: Error, Hashable, CustomStringConvertible {
    /// The problems with the key.
    var keyProblems: [String] = []
    /// The problems with the certificates.
    var chainProblems: [String] = []

    /// Whether there are no problems.
    var isEmpty: Bool { keyProblems.isEmpty && chainProblems.isEmpty }

    var description: String {
        (keyProblems.map { "signing key \($0)" } + chainProblems.map { "signing chain \($0)" })
            .joined(separator: "; ")
    }
}

extension MachineTime {
    /// Converts the date of a certificate, which has whole seconds.
    fileprivate init(_ date: Date) {
        self.init(millisecondsSinceEpoch: Int64(date.timeIntervalSince1970) * 1000)
    }
}

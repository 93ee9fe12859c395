import Crypto
import EventTypes
import Foundation
import SwiftASN1
import X509

/// Verifies a signed transaction like a stranger who trusts only the root certificate.
public struct SignedTransactionCheck: Sendable {
    /// The JWS header as it was signed.
    public let header: String
    /// The JWS payload as it was signed.
    public let payload: String
    /// The subjects of the certificates in the chain: leaf, intermediate, root.
    public let chain: [String]

    /// Verifies a signed transaction and throws at the first error.
    ///
    /// - Parameters:
    ///   - compact: The JWS in compact form.
    ///   - rootCertificate: The trusted root in DER.
    /// - Throws: ``HarnessError``, which describes the error.
    public init(_ compact: String, rootCertificate: [UInt8]) throws {
        struct Header: Decodable {
            var alg: String
            var x5c: [String]
        }
        let parts = compact.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = StrictBase64.decode(parts[0]),
            let payload = StrictBase64.decode(parts[1]),
            let signature = StrictBase64.decode(parts[2])
        else { throw HarnessError("Not three parts of base64url: \(compact.prefix(80))") }
        let fields = try JSONDecoder().decode(Header.self, from: Data(header))
        guard fields.alg == "ES256" else { throw HarnessError("Signed with \(fields.alg).") }
        let ders = fields.x5c.compactMap { Data(base64Encoded: $0).map { Array($0) } }
        guard ders.count == 3 else { throw HarnessError("A chain of \(ders.count) certificates.") }
        guard ders[2] == rootCertificate else { throw HarnessError("Another root.") }
        let certificates = try ders.map { try Certificate(derEncoded: $0) }
        for (child, parent) in zip(certificates, certificates.dropFirst() + [certificates[2]]) {
            guard parent.publicKey.isValidSignature(child.signature, for: child) else {
                throw HarnessError("\(child.subject) is not signed by \(parent.subject).")
            }
        }
        guard let key = P256.Signing.PublicKey(certificates[0].publicKey) else {
            throw HarnessError("The leaf's key is not of P-256.")
        }
        let signed = Data("\(parts[0]).\(parts[1])".utf8)
        guard
            key.isValidSignature(
                try P256.Signing.ECDSASignature(rawRepresentation: signature),
                for: signed
            )
        else { throw HarnessError("The signature is not the leaf's.") }
        self.header = String(decoding: header, as: UTF8.self)
        self.payload = String(decoding: payload, as: UTF8.self)
        chain = certificates.map { "\($0.subject)" }
    }
}

import Crypto
import Foundation
import ReceiptValidation
import SwiftASN1
import X509

/// A store with a chain of certificates of its own, which signs receipts.
struct TestStore {
    static let bundleID = "com.example.app"

    private let key: P256.Signing.PrivateKey
    /// Leaf, intermediate and root in DER.
    private let chain: [[UInt8]]

    init() throws {
        let key = P256.Signing.PrivateKey()
        let leaf = Certificate.PrivateKey(key)
        let intermediate = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let root = Certificate.PrivateKey(P384.Signing.PrivateKey())
        let issuing = try Certificate.Extension(
            KeyUsage(keyCertSign: true, cRLSign: true),
            critical: true
        )
        let certificates = [
            try Self.certificate(
                "Leaf",
                leaf,
                by: "Intermediate",
                intermediate,
                [
                    try Certificate.Extension(KeyUsage(digitalSignature: true), critical: true),
                    Certificate.Extension(
                        oid: [1, 2, 840, 113635, 100, 6, 11, 1],
                        critical: false,
                        value: [5, 0]
                    ),
                ]
            ),
            try Self.certificate(
                "Intermediate",
                intermediate,
                by: "Root",
                root,
                [
                    issuing, try Self.authority(maxPathLength: 0),
                    Certificate.Extension(
                        oid: [1, 2, 840, 113635, 100, 6, 2, 1],
                        critical: false,
                        value: [5, 0]
                    ),
                ]
            ),
            try Self.certificate(
                "Root",
                root,
                by: "Root",
                root,
                [issuing, try Self.authority(maxPathLength: nil)]
            ),
        ]
        chain = try certificates.map { try $0.serializeAsPEM().derBytes }
        self.key = key
    }

    /// A validator that trusts this store.
    var validator: ReceiptValidator {
        ReceiptValidator(
            ReceiptTrust(roots: [chain[2]], bundleID: Self.bundleID, environment: .sandbox)
        )
    }

    /// Signs the receipt of a transaction.
    func receipt(of transactionID: String, for bundleID: String = Self.bundleID) throws -> String {
        let time = Int64(Date().timeIntervalSince1970) * 1000
        let payload = """
            {"transactionId":"\(transactionID)","originalTransactionId":"\(transactionID)",
            "bundleId":"\(bundleID)","productId":"com.example.pro","purchaseDate":\(time),
            "originalPurchaseDate":\(time),"quantity":1,"type":"Non-Consumable",
            "signedDate":\(time),"environment":"Sandbox"}
            """
        let certificates = chain.map { "\"\(Data($0).base64EncodedString())\"" }
        let header = "{\"alg\":\"ES256\",\"x5c\":[\(certificates.joined(separator: ","))]}"
        let signed = "\(Self.base64(Data(header.utf8))).\(Self.base64(Data(payload.utf8)))"
        let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
        return "\(signed).\(Self.base64(signature))"
    }

    private static func authority(maxPathLength: Int?) throws -> Certificate.Extension {
        let constraints = BasicConstraints.isCertificateAuthority(maxPathLength: maxPathLength)
        return try Certificate.Extension(constraints, critical: true)
    }

    private static func certificate(
        _ subject: String,
        _ key: Certificate.PrivateKey,
        by issuer: String,
        _ issuerKey: Certificate.PrivateKey,
        _ extensions: [Certificate.Extension]
    ) throws -> Certificate {
        var extensions = extensions
        let ownKey = SubjectKeyIdentifier(hash: key.publicKey)
        extensions.append(try Certificate.Extension(ownKey, critical: false))
        if subject != issuer {
            let name = SubjectKeyIdentifier(hash: issuerKey.publicKey).keyIdentifier
            extensions.append(
                try Certificate.Extension(
                    AuthorityKeyIdentifier(keyIdentifier: name),
                    critical: false
                )
            )
        }
        return try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: key.publicKey,
            notValidBefore: Date().addingTimeInterval(-86_400),
            notValidAfter: Date().addingTimeInterval(86_400),
            issuer: try DistinguishedName { CommonName(issuer) },
            subject: try DistinguishedName { CommonName(subject) },
            extensions: try Certificate.Extensions(extensions),
            issuerPrivateKey: issuerKey
        )
    }

    /// Base64 as in a JWS: without padding, and with other characters for `+` and `/`.
    private static func base64(_ data: Data) -> String {
        data.base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}

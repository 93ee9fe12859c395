import Crypto
import EventTypes
import Foundation
import SwiftASN1
import X509

@testable import ReceiptValidation

/// A root, an intermediate and a leaf made afresh, each as a test wants it.
struct TestAuthority {
    /// One certificate as it is to be.
    struct Plan {
        var subject: String
        var issuer: String
        var version = Certificate.Version.v3
        var from = TestAuthority.now.addingTimeInterval(-86_400)
        var until = TestAuthority.now.addingTimeInterval(10 * 365 * 86_400)
        var marker: ASN1ObjectIdentifier?
        var isMarkerCritical = false
        var hasSubjectKeyIdentifier = true
        /// Whether it names its issuer's key; a root need not.
        var hasAuthorityKeyIdentifier = true
        var namesAnotherKey = false
        var constraints: BasicConstraints?
        var usage: KeyUsage?
        var further: [Certificate.Extension] = []
        /// The key that signs it, instead of its issuer's.
        var signer: Certificate.PrivateKey?
    }

    /// When the tests happen: 2026-11-21 02:00 UTC.
    static let now = Date(timeIntervalSince1970: 1_795_226_400)
    static let bundleID = "com.example.app"

    /// The leaf's key.
    var leafKey = P256.Signing.PrivateKey()
    /// The leaf's key where it is not on P-256.
    var otherLeafKey: Certificate.PrivateKey?
    var intermediateKey = Certificate.PrivateKey(P256.Signing.PrivateKey())
    var rootKey = Certificate.PrivateKey(P384.Signing.PrivateKey())
    var leaf = Plan(
        subject: "Leaf",
        issuer: "Intermediate",
        until: TestAuthority.now.addingTimeInterval(365 * 86_400),
        marker: CertificateChain.leafMarker,
        usage: KeyUsage(digitalSignature: true)
    )
    var intermediate = Plan(
        subject: "Intermediate",
        issuer: "Root",
        marker: CertificateChain.intermediateMarker,
        constraints: .isCertificateAuthority(maxPathLength: 0),
        usage: KeyUsage(keyCertSign: true, cRLSign: true)
    )
    var root = Plan(
        subject: "Root",
        issuer: "Root",
        hasAuthorityKeyIdentifier: false,
        constraints: .isCertificateAuthority(maxPathLength: nil),
        usage: KeyUsage(keyCertSign: true, cRLSign: true)
    )

    /// Leaf, intermediate and root.
    func certificates() throws -> [Certificate] {
        let leafKey = otherLeafKey ?? Certificate.PrivateKey(leafKey)
        return [
            try certificate(leaf, key: leafKey, issuerKey: intermediateKey),
            try certificate(intermediate, key: intermediateKey, issuerKey: rootKey),
            try certificate(root, key: rootKey, issuerKey: rootKey),
        ]
    }

    private func certificate(
        _ plan: Plan,
        key: Certificate.PrivateKey,
        issuerKey: Certificate.PrivateKey
    ) throws -> Certificate {
        var extensions: [Certificate.Extension] = []
        if let constraints = plan.constraints {
            extensions.append(try Certificate.Extension(constraints, critical: true))
        }
        if let usage = plan.usage {
            extensions.append(try Certificate.Extension(usage, critical: true))
        }
        if plan.hasSubjectKeyIdentifier {
            extensions.append(
                try Certificate.Extension(
                    SubjectKeyIdentifier(hash: key.publicKey),
                    critical: false
                )
            )
        }
        if plan.hasAuthorityKeyIdentifier {
            let named = plan.namesAnotherKey ? key.publicKey : issuerKey.publicKey
            extensions.append(
                try Certificate.Extension(
                    AuthorityKeyIdentifier(
                        keyIdentifier: SubjectKeyIdentifier(hash: named).keyIdentifier
                    ),
                    critical: false
                )
            )
        }
        if let marker = plan.marker {
            extensions.append(
                Certificate.Extension(oid: marker, critical: plan.isMarkerCritical, value: [5, 0])
            )
        }
        return try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: key.publicKey,
            notValidBefore: plan.from,
            notValidAfter: plan.until,
            issuer: try DistinguishedName { CommonName(plan.issuer) },
            subject: try DistinguishedName { CommonName(plan.subject) },
            extensions: try Certificate.Extensions(extensions + plan.further),
            issuerPrivateKey: plan.signer ?? issuerKey
        )
    }
}

/// A chain that was made, and what it signs.
struct TestSigner {
    let key: P256.Signing.PrivateKey
    let certificates: [Certificate]

    init(_ change: (inout TestAuthority) throws -> Void = { _ in }) throws {
        var authority = TestAuthority()
        try change(&authority)
        key = authority.leafKey
        certificates = try authority.certificates()
    }

    /// The certificates in DER: leaf, intermediate, root.
    func der() throws -> [[UInt8]] {
        try certificates.map { try $0.serializeAsPEM().derBytes }
    }

    /// A validator that believes this signer's root.
    func validator(
        bundleID: String = TestAuthority.bundleID,
        environment: ReceiptTrust.Environment = .sandbox,
        appAppleID: Int64? = nil
    ) throws -> ReceiptValidator {
        ReceiptValidator(
            ReceiptTrust(
                roots: [try der()[2]],
                bundleID: bundleID,
                environment: environment,
                appAppleID: appAppleID
            )
        )
    }

    /// A JWS over a payload, its header as given or as it has to be.
    func jws(
        _ payload: String = transactionJSON(),
        alg: String = "ES256",
        x5c: [[UInt8]]? = nil,
        header: String? = nil
    ) throws -> String {
        let certificates = try (x5c ?? der()).map { "\"\(Data($0).base64EncodedString())\"" }
        let header =
            header
            ?? "{\"alg\":\"\(alg)\",\"typ\":\"JWT\",\"x5c\":[\(certificates.joined(separator: ","))]}"
        let signed = "\(StrictBase64.text(header.utf8)).\(StrictBase64.text(payload.utf8))"
        let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
        return "\(signed).\(StrictBase64.text(signature))"
    }
}

/// Returns the JSON of a signed transaction with members changed, or left out where `nil`.
func transactionJSON(_ changes: [String: String?] = [:]) -> String {
    var members: [String: String] = [
        "transactionId": "\"2000000000001\"",
        "originalTransactionId": "\"2000000000001\"",
        "bundleId": "\"com.example.app\"",
        "productId": "\"coins.100\"",
        "purchaseDate": "1795226395000",
        "originalPurchaseDate": "1795226395000",
        "quantity": "1",
        "type": "\"Consumable\"",
        "inAppOwnershipType": "\"PURCHASED\"",
        "signedDate": "1795226400000",
        "environment": "\"Sandbox\"",
        "storefront": "\"USA\"",
        "storefrontId": "\"143441\"",
        "transactionReason": "\"PURCHASE\"",
        "currency": "\"USD\"",
        "price": "990",
    ]
    for (name, value) in changes { members[name] = value }
    let text = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
    return "{\(text.joined(separator: ","))}"
}

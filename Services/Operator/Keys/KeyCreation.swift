import Crypto
import Foundation
import OperatorCore
import StoreAPI
import SwiftASN1
import X509

/// Creates the keys that a store needs to start: the receipts' certificates with status responders,
/// key pairs for an app, its server and an administrator, and the webhooks' secret.
///
/// Existing files stay as they are; only missing ones are created.
struct KeyCreation {
    let directory: KeyDirectory
    let time: Date
    /// The URL at which verifiers ask for the status of certificates: `/ocsp` of receipts.
    let ocspURL: String
    /// For how many years the certificate that signs receipts is valid.
    var leafYears = 2
    /// The created files, as paths within the directory, in the order of their creation.
    private(set) var created: [String] = []

    init(directory: KeyDirectory, time: Date, ocspURL: String) {
        self.directory = directory
        self.time = time
        self.ocspURL = ocspURL
    }

    /// Creates everything.
    mutating func createAll(
        bundleID: String,
        keyID: String,
        administrator: String,
        scopes: [AdministratorScope] = AdministratorScope.allCases
    ) throws(OperatorError) {
        try createReceiptChain()
        try createStatusFiles()
        try createPair(
            privateKey: directory.appPrivateKey(bundleID: bundleID, keyID: keyID),
            publicKey: directory.appKey(bundleID: bundleID, keyID: keyID)
        )
        try createAppRegistration(bundleID: bundleID)
        if try !hasServerKey(for: bundleID) {
            let name = bundleID.replacing(".", with: "-") + "-" + keyID
            try createServerKey(keyID: name, issuerID: nil, bundleIDs: [bundleID])
        }
        // The scopes come first: services refuse a key that has none.
        let registration = directory.administratorRegistration(name: administrator)
        if try directory.read(registration) == nil {
            let names = Set(scopes).sorted().map { "\"\($0.rawValue)\"" }
            let text = "{\"scopes\": [\(names.joined(separator: ", "))]}\n"
            try create(registration, text, isPrivate: false)
        }
        try createPair(
            privateKey: directory.administratorPrivateKey(name: administrator),
            publicKey: directory.administratorKey(name: administrator)
        )
        if try directory.read(directory.webhookSecret) == nil {
            let secret = SymmetricKey(size: .bits256).withUnsafeBytes { bytes in
                "whsec_" + Data(bytes).base64EncodedString()
            }
            try create(directory.webhookSecret, secret + "\n", isPrivate: true)
        }
    }

    /// Creates a P-256 key pair, or only its missing public half.
    mutating func createPair(privateKey: URL, publicKey: URL) throws(OperatorError) {
        let hasPublicKey = try directory.read(publicKey) != nil
        let hasPrivateKey = try directory.read(privateKey) != nil
        if hasPublicKey && !hasPrivateKey {
            // The private half may be elsewhere, as it should be in production.
            return
        }
        let key = try key(privateKey)
        if !hasPublicKey {
            try create(publicKey, key.publicKey.pemRepresentation + "\n", isPrivate: false)
        }
    }

    private mutating func createReceiptChain() throws(OperatorError) {
        let hasChain = try directory.read(directory.signingChain) != nil
        let hasKey = try directory.read(directory.signingKey) != nil
        if hasChain && hasKey {
            guard try directory.read(directory.rootCertificate) == nil else { return }
            try createRootCertificateFromChain()
            return
        }
        guard !hasChain else {
            throw OperatorError(
                .failed,
                """
                \(directory.signingChain.path) exists, but the key it certifies does not. \
                Put \(directory.signingKey.path) back, or move the certificate chain away.
                """
            )
        }
        let root = try rootAuthority()
        let intermediateKey = try key(directory.intermediateKey)
        let signingKey = try key(directory.signingKey)
        let chain = try certifying { () throws in
            let intermediate = CertificateIssue.Authority(
                certificate: try CertificateIssue.intermediate(
                    key: intermediateKey,
                    from: root,
                    statusToldAt: ocspURL,
                    at: time
                ),
                key: intermediateKey
            )
            let leaf = try CertificateIssue.leaf(
                key: signingKey.publicKey,
                from: intermediate,
                statusToldAt: ocspURL,
                years: leafYears,
                at: time
            )
            return try [leaf, intermediate.certificate, root.certificate]
                .map { try $0.serializeAsPEM().pemString + "\n" }.joined()
        }
        try create(directory.signingChain, chain, isPrivate: false)
    }

    private mutating func rootAuthority() throws(OperatorError) -> CertificateIssue.Authority {
        let stored = try directory.read(directory.rootCertificate)
        let hasKey = try directory.read(directory.rootKey) != nil
        if let stored {
            guard hasKey else {
                throw OperatorError(
                    .failed,
                    """
                    The certificate chain can only be made with the root's key, and \
                    \(directory.rootKey.path) does not exist.
                    """
                )
            }
            let certificate = try certifying { try Certificate(derEncoded: Array(stored)) }
            return CertificateIssue.Authority(
                certificate: certificate,
                key: try key(directory.rootKey)
            )
        }
        let key = try key(directory.rootKey)
        let certificate = try certifying { try CertificateIssue.root(key: key, at: time) }
        let bytes = try certifying { try certificate.serializeAsPEM().derBytes }
        try directory.create(directory.rootCertificate, Data(bytes), isPrivate: false)
        created.append(directory.relativePath(of: directory.rootCertificate))
        return CertificateIssue.Authority(certificate: certificate, key: key)
    }

    private mutating func createRootCertificateFromChain() throws(OperatorError) {
        let chain = try directory.read(directory.signingChain) ?? Data()
        let root = try certifying {
            try PEMDocument.parseMultiple(pemString: String(decoding: chain, as: UTF8.self)).last
                .map { try Certificate(pemDocument: $0) }
        }
        guard let root else {
            throw OperatorError(.failed, "\(directory.signingChain.path) contains no certificate.")
        }
        let bytes = try certifying { try root.serializeAsPEM().derBytes }
        try directory.create(directory.rootCertificate, Data(bytes), isPrivate: false)
        created.append(directory.relativePath(of: directory.rootCertificate))
    }

    /// Reads a private key, or creates it if it does not exist.
    mutating func key(_ file: URL) throws(OperatorError) -> P256.Signing.PrivateKey {
        if let stored = try directory.read(file) {
            do {
                return try P256.Signing.PrivateKey(
                    pemRepresentation: String(decoding: stored, as: UTF8.self)
                )
            } catch {
                throw OperatorError(.failed, "\(file.path) is not a P-256 private key in PEM.")
            }
        }
        let key = P256.Signing.PrivateKey()
        try create(file, key.pemRepresentation + "\n", isPrivate: true)
        return key
    }

    mutating func create(
        _ file: URL,
        _ text: String,
        isPrivate: Bool
    ) throws(OperatorError) {
        try directory.create(file, Data(text.utf8), isPrivate: isPrivate)
        created.append(directory.relativePath(of: file))
    }

    /// Wraps the errors of the certificate library.
    func certifying<Value>(_ body: () throws -> Value) throws(OperatorError) -> Value {
        do {
            return try body()
        } catch {
            throw OperatorError(.failed, "The receipts' certificates cannot be made: \(error)")
        }
    }
}

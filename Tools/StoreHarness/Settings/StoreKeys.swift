import ClockAndIDs
import Crypto
public import EventTypes
import Foundation

/// The keys of a store under test, created by `counterfoil keys create`, and tokens signed with
/// them.
public struct StoreKeys: Sendable {
    /// The app of the test accounts.
    public static let bundleID = BundleID(unchecked: "com.example.app")
    /// The id of the key, which is also the name of its file.
    public static let keyID = "development"
    /// The name of the administrator.
    public static let administrator = "admin"

    /// The folder of all keys.
    public let directory: String
    private let appKey: P256.Signing.PrivateKey
    private let administratorKey: P256.Signing.PrivateKey

    /// The public keys of apps: the services' `APP_KEYS_DIRECTORY`.
    public var apps: String { directory + "/apps" }
    /// The public keys of administrators: the services' `ADMIN_KEYS_DIRECTORY`.
    public var administrators: String { directory + "/administrators" }
    /// The public keys of merchants' servers: the services' `SERVER_KEYS_DIRECTORY`.
    public var servers: String { directory + "/servers" }
    /// The key that signs receipts.
    public var signingKey: String { directory + "/receipts/signing-key.pem" }
    /// The certificate chain of the signing key: leaf, intermediate, root.
    public var signingChain: String { directory + "/receipts/signing-chain.pem" }
    /// The keys that sign the status of certificates (OCSP).
    public var statuses: String { directory + "/receipts/ocsp" }
    /// The root certificate in DER.
    public var rootCertificate: String { directory + "/receipts/root.cer" }
    /// The file with the secret that signs webhooks.
    public var webhookSecret: String { directory + "/private/webhook-secret" }

    /// Creates missing keys in a folder, and reads the keys that tests sign with.
    ///
    /// - Parameters:
    ///   - directory: The folder.
    ///   - receiptsPort: The port at which `receipts` will answer about the status of certificates.
    /// - Returns: The keys.
    /// - Throws: An error if a key cannot be created or read.
    public static func create(
        in directory: String,
        receiptsPort: Int = StoreService.receipts.usualPort
    ) async throws -> StoreKeys {
        try await create(of: bundleID, in: directory, receiptsPort)
        return try StoreKeys(directory: directory)
    }

    /// Creates the keys of a further app.
    func add(_ app: BundleID, receiptsPort: Int) async throws {
        try await Self.create(of: app, in: directory, receiptsPort)
    }

    private static func create(
        of app: BundleID,
        in directory: String,
        _ receiptsPort: Int
    ) async throws {
        try await ChildProcess.run(
            try BuiltExecutables.path("counterfoil"),
            [
                "keys", "create", "--directory", directory, "--bundle", app.rawValue,
                "--key-id", keyID, "--administrator", administrator,
                "--ocsp-url", "http://127.0.0.1:\(receiptsPort)/ocsp",
                // The clocks of sandboxes are set years ahead.
                "--years", "9",
            ]
        )
    }

    /// Copies keys into a folder that does not exist yet, with the rights of their files.
    ///
    /// - Parameters:
    ///   - original: The keys.
    ///   - directory: The folder.
    /// - Returns: The copy.
    /// - Throws: An error if a key cannot be copied or read.
    static func copy(_ original: String, to directory: String) async throws -> StoreKeys {
        try await ChildProcess.run(
            "/usr/bin/env",
            ["cp", "-a", original, directory],
            environment: ["PATH": "/usr/bin:/bin"]
        )
        return try StoreKeys(directory: directory)
    }

    private init(directory: String) throws {
        self.directory = directory
        appKey = try Self.key(of: Self.bundleID, in: directory)
        administratorKey = try Self.key(
            "\(directory)/private/administrators/\(Self.administrator).pem"
        )
    }

    private static func key(
        of app: BundleID,
        in directory: String
    ) throws -> P256.Signing.PrivateKey {
        try key("\(directory)/private/apps/\(app)/\(keyID).pem")
    }

    private static func key(_ path: String) throws -> P256.Signing.PrivateKey {
        try P256.Signing.PrivateKey(
            pemRepresentation: try String(contentsOfFile: path, encoding: .utf8)
        )
    }

    /// Returns a token for an account.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - app: The account's app.
    ///   - lifetime: The validity, counted from the claimed time of issue.
    ///   - age: The age of the claimed time of issue.
    ///   - audience: The audience of the token.
    /// - Returns: The token in compact form.
    /// - Throws: An error if it cannot be signed.
    public func token(
        account: AccountID,
        app: BundleID = StoreKeys.bundleID,
        lifetime: Duration = .seconds(12 * 3600),
        age: Duration = .seconds(60),
        audience: String = "counterfoil"
    ) throws -> String {
        try token(
            issuer: app.rawValue,
            subject: account.rawValue,
            audience: audience,
            keyID: Self.keyID,
            key: app == Self.bundleID ? appKey : try Self.key(of: app, in: directory),
            lifetime: lifetime,
            age: age
        )
    }

    /// Returns a token for the administrator.
    ///
    /// - Parameter scope: The scopes that the token keeps, with spaces between them; `nil` for all.
    /// - Returns: The token in compact form.
    /// - Throws: An error if it cannot be signed.
    public func administratorToken(scope: String? = nil) throws -> String {
        try token(
            issuer: "administrator",
            subject: Self.administrator,
            audience: "counterfoil-admin",
            keyID: Self.administrator,
            key: administratorKey,
            lifetime: .seconds(3600),
            scope: scope
        )
    }

    /// The id of the key of the merchant's server.
    public var serverKeyID: String {
        Self.bundleID.rawValue.replacing(".", with: "-") + "-" + Self.keyID
    }

    /// Signs a text with the key of the merchant's server.
    ///
    /// - Parameter text: The text.
    /// - Returns: The signature in DER and base64.
    /// - Throws: An error if the key cannot be read.
    public func serverSignature(of text: String) throws -> String {
        try Self.key("\(directory)/private/servers/\(serverKeyID).p8")
            .signature(for: Data(text.utf8)).derRepresentation.base64EncodedString()
    }

    /// Returns a token for the merchant's server, in the form that Apple's clients create.
    public func serverToken() throws -> String {
        try serverToken(
            for: "appstoreconnect-v1",
            claims: ["exp": StoreTime.wallClock().millisecondsSinceEpoch / 1000 + 3000]
        )
    }

    /// Signs whether one payment gets the introductory offer, as Apple's library for servers does.
    ///
    /// - Parameters:
    ///   - isAllowed: Whether the payment gets it.
    ///   - product: The product that has it.
    /// - Returns: The JWS, which names no transaction of the buyer.
    /// - Throws: An error if the key cannot be read.
    public func introductoryOfferEligibility(
        _ isAllowed: Bool,
        of product: ProductID
    ) throws -> String {
        try serverToken(
            for: "introductory-offer-eligibility",
            claims: [
                "iat": StoreTime.wallClock().millisecondsSinceEpoch / 1000,
                "nonce": UUID().uuidString.lowercased(), "productId": product.rawValue,
                "allowIntroductoryOffer": isAllowed,
            ]
        )
    }

    /// Signs claims with the key of the merchant's server.
    private func serverToken(for audience: String, claims: [String: Any]) throws -> String {
        struct Registration: Decodable { var issuerID: String }
        let keyID = serverKeyID
        let registration = try JSONDecoder().decode(
            Registration.self,
            from: try Data(contentsOf: URL(fileURLWithPath: "\(servers)/\(keyID).json"))
        )
        var claims = claims
        claims["iss"] = registration.issuerID
        claims["bid"] = Self.bundleID.rawValue
        claims["aud"] = audience
        return try token(
            header: ["alg": "ES256", "typ": "JWT", "kid": keyID],
            claims: claims,
            key: try Self.key("\(directory)/private/servers/\(keyID).p8")
        )
    }

    /// Returns a well-formed token for the account that is signed by an unregistered key.
    ///
    /// - Parameter account: The account.
    /// - Returns: The token in compact form.
    /// - Throws: An error if it cannot be signed.
    public func forgedToken(account: AccountID) throws -> String {
        try token(
            issuer: Self.bundleID.rawValue,
            subject: account.rawValue,
            audience: "counterfoil",
            keyID: Self.keyID,
            key: P256.Signing.PrivateKey(),
            lifetime: .seconds(3600)
        )
    }

    private func token(
        issuer: String,
        subject: String,
        audience: String,
        keyID: String,
        key: P256.Signing.PrivateKey,
        lifetime: Duration,
        age: Duration = .seconds(60),
        scope: String? = nil
    ) throws -> String {
        let made =
            StoreTime.wallClock().millisecondsSinceEpoch / 1000 - age.milliseconds / 1000
        var claims: [String: Any] = [
            "iss": issuer, "sub": subject, "aud": audience, "iat": made,
            "exp": made + lifetime.milliseconds / 1000,
        ]
        claims["scope"] = scope
        return try token(
            header: ["alg": "ES256", "typ": "JWT", "kid": keyID],
            claims: claims,
            key: key
        )
    }

    private func token(
        header: [String: Any],
        claims: [String: Any],
        key: P256.Signing.PrivateKey
    ) throws -> String {
        let parts = try [header, claims].map { part in
            StrictBase64.text(
                try JSONSerialization.data(withJSONObject: part, options: .sortedKeys)
            )
        }
        let signed = parts.joined(separator: ".")
        let signature = try key.signature(for: Data(signed.utf8))
        return signed + "." + StrictBase64.text(signature.rawRepresentation)
    }
}

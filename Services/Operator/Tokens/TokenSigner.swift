import EventTypes
import Foundation
import JWTKit
import OperatorCore
import StoreAPI

/// Signs the tokens that requests carry: JWTs with ES256, by an app for one of its accounts or by
/// an administrator for themselves.
struct TokenSigner {
    private let key: ES256PrivateKey
    private let keyID: String

    init(privateKeyPEM: String, keyID: String) throws {
        key = try ES256PrivateKey(pem: privateKeyPEM)
        self.keyID = keyID
    }

    /// A token for an account of an app.
    func accountToken(
        _ accountID: AccountID,
        of bundleID: BundleID,
        from time: MachineTime,
        lifetime: Duration
    ) async throws(OperatorError) -> String {
        try await sign(
            Claims(
                iss: bundleID.rawValue,
                sub: accountID.rawValue,
                aud: "counterfoil",
                from: time,
                lifetime: lifetime
            )
        )
    }

    /// A token for the administrator whose key this is.
    ///
    /// Without scopes it has all that the key has.
    func adminToken(
        from time: MachineTime,
        lifetime: Duration,
        scopes: [AdministratorScope] = []
    ) async throws(OperatorError) -> String {
        try await sign(
            Claims(
                iss: "administrator",
                sub: keyID,
                aud: "counterfoil-admin",
                scopes: scopes,
                from: time,
                lifetime: lifetime
            )
        )
    }

    private struct Claims: JWTPayload {
        let iss: String
        let sub: String
        let aud: String
        let iat: Int64
        let exp: Int64
        var scope: String?

        init(
            iss: String,
            sub: String,
            aud: String,
            scopes: [AdministratorScope] = [],
            from time: MachineTime,
            lifetime: Duration
        ) {
            if !scopes.isEmpty {
                scope = Set(scopes).sorted().map(\.rawValue).joined(separator: " ")
            }
            self.iss = iss
            self.sub = sub
            self.aud = aud
            iat = time.millisecondsSinceEpoch / 1000
            exp = iat + lifetime.components.seconds
        }

        // This command signs tokens and never verifies any.
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private func sign(_ claims: Claims) async throws(OperatorError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let kid = JWKIdentifier(string: keyID)
        let keys = await JWTKeyCollection().add(
            ecdsa: key,
            kid: kid,
            serializer: DefaultJWTSerializer(jsonEncoder: encoder)
        )
        do {
            return try await keys.sign(claims, kid: kid)
        } catch {
            throw OperatorError(.failed, "The token cannot be signed: \(error)")
        }
    }
}

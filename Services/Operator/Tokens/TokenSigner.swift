import Crypto
import EventTypes
import Foundation

/// Signs the tokens that requests carry: JWTs with ES256, by an app for one of its accounts or by
/// an administrator for themselves.
struct TokenSigner {
    private let key: P256.Signing.PrivateKey
    private let keyID: String

    init(privateKeyPEM: String, keyID: String) throws {
        key = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
        self.keyID = keyID
    }

    /// A token for an account of an app.
    func accountToken(
        _ accountID: AccountID,
        of bundleID: BundleID,
        from time: Timestamp,
        lifetime: Duration
    ) throws(OperatorError) -> String {
        try sign(
            issuer: bundleID.rawValue,
            subject: accountID.rawValue,
            audience: "counterfoil",
            from: time,
            lifetime: lifetime
        )
    }

    /// A token for the administrator whose key this is.
    func adminToken(from time: Timestamp, lifetime: Duration) throws(OperatorError) -> String {
        try sign(
            issuer: "administrator",
            subject: keyID,
            audience: "counterfoil-admin",
            from: time,
            lifetime: lifetime
        )
    }

    private struct Header: Encodable {
        var alg = "ES256"
        var typ = "JWT"
        var kid: String
    }

    private struct Claims: Encodable {
        var iss: String
        var sub: String
        var aud: String
        var iat: Int64
        var exp: Int64
    }

    private func sign(
        issuer: String,
        subject: String,
        audience: String,
        from time: Timestamp,
        lifetime: Duration
    ) throws(OperatorError) -> String {
        let issuedAt = time.millisecondsSinceEpoch / 1000
        let claims = Claims(
            iss: issuer,
            sub: subject,
            aud: audience,
            iat: issuedAt,
            exp: issuedAt + lifetime.components.seconds
        )
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let signingInput =
                base64URL(try encoder.encode(Header(kid: keyID))) + "."
                + base64URL(try encoder.encode(claims))
            let signature = try key.signature(for: Data(signingInput.utf8))
            return signingInput + "." + base64URL(signature.rawRepresentation)
        } catch {
            throw OperatorError(.failed, "The token cannot be signed: \(error)")
        }
    }

    private func base64URL(_ data: Data) -> String {
        data.base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}

import Foundation
import JWTKit

/// Signs the tokens that the store asks for: JWTs with ES256.
///
/// The app's private key stays in this process. Browsers never see a token: they have a session
/// cookie, which is worth nothing to the store.
struct TokenSigner: Sendable {
    /// The lifetime of a token; each request gets a new one.
    static let lifetime: TimeInterval = 15 * 60

    private let keys: JWTKeyCollection
    private let kid: JWKIdentifier
    private let issuer: String
    private let audience: String

    /// Makes a signer.
    ///
    /// - Parameters:
    ///   - pem: The private key.
    ///   - keyID: The name under which the store has the public key.
    ///   - issuer: The app's bundle identifier, or `administrator`.
    ///   - audience: `counterfoil`, or `counterfoil-admin` for an administrator.
    /// - Throws: An error of JWTKit if the key cannot be read.
    init(pem: String, keyID: String, issuer: String, audience: String) async throws {
        kid = JWKIdentifier(string: keyID)
        self.issuer = issuer
        self.audience = audience
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        keys = await JWTKeyCollection().add(
            ecdsa: try ES256PrivateKey(pem: pem),
            kid: kid,
            serializer: DefaultJWTSerializer(jsonEncoder: encoder)
        )
    }

    /// Returns a token for a subject: an account, or an administrator's key.
    func token(subject: String, at time: Date) async throws -> String {
        // The store and this server may disagree by a few seconds.
        let issued = Int64(time.timeIntervalSince1970) - 10
        return try await keys.sign(
            Claims(
                iss: issuer,
                sub: subject,
                aud: audience,
                iat: issued,
                exp: issued + Int64(Self.lifetime)
            ),
            kid: kid
        )
    }

    private struct Claims: JWTPayload {
        let iss: String
        let sub: String
        let aud: String
        let iat: Int64
        let exp: Int64

        // This server signs tokens and never verifies any.
        func verify(using algorithm: some JWTAlgorithm) {}
    }
}

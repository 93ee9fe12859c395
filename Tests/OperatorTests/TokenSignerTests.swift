import Crypto
import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import Operator

@Suite struct TokenSignerTests {
    @Test func anAccountTokenHoldsWhoAndForHowLong() async throws {
        let key = P256.Signing.PrivateKey()
        let signer = try TokenSigner(privateKeyPEM: key.pemRepresentation, keyID: "key-1")
        let token = try await signer.accountToken(
            AccountID(unchecked: "ada"),
            of: BundleID(unchecked: "com.example.app"),
            from: MachineTime(millisecondsSinceEpoch: 1_795_237_175_999),
            lifetime: .seconds(60)
        )
        let parts = token.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let header = try decoded(parts[0]), claims = try decoded(parts[1])
        #expect(header == #"{"alg":"ES256","kid":"key-1","typ":"JWT"}"#)
        #expect(
            claims == """
                {"aud":"counterfoil","exp":1795237235,"iat":1795237175,"iss":"com.example.app",\
                "sub":"ada"}
                """
        )
        let signature = try P256.Signing.ECDSASignature(
            rawRepresentation: #require(StrictBase64.decode(parts[2]))
        )
        #expect(
            key.publicKey.isValidSignature(signature, for: Data((parts[0] + "." + parts[1]).utf8))
        )
    }

    @Test func anAdministratorTokenNamesTheAdministratorTwice() async throws {
        let signer = try TokenSigner(
            privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation,
            keyID: "grace"
        )
        let token = try await signer.adminToken(
            from: MachineTime(millisecondsSinceEpoch: 0),
            lifetime: .seconds(60)
        )
        let parts = token.split(separator: ".").map(String.init)
        #expect(try decoded(parts[0]) == #"{"alg":"ES256","kid":"grace","typ":"JWT"}"#)
        #expect(
            try decoded(parts[1]) == """
                {"aud":"counterfoil-admin","exp":60,"iat":0,"iss":"administrator","sub":"grace"}
                """
        )
    }

    @Test func aNarrowedTokenNamesItsScopes() async throws {
        let signer = try TokenSigner(
            privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation,
            keyID: "grace"
        )
        let token = try await signer.adminToken(
            from: MachineTime(millisecondsSinceEpoch: 0),
            lifetime: .seconds(60),
            scopes: [.support, .read, .support]
        )
        let claims = try decoded(String(token.split(separator: ".")[1]))
        #expect(claims.contains(#""scope":"read support""#))
    }

    private func decoded(_ text: String) throws -> String {
        String(decoding: try #require(StrictBase64.decode(text)), as: UTF8.self)
    }
}

import Crypto
import Foundation
import Testing

@testable import storefront

/// Promotional offers as a merchant's server signs them.
@Suite struct OfferSignerTests {
    private let key = P256.Signing.PrivateKey()
    private let nonce = UUID(uuidString: "7E3FB204-2B43-4F2F-8F0E-2F2A0D6B8E3C")
    private let date = Date(timeIntervalSince1970: 1_800_000_000)

    private func sign(for username: String = "") throws -> OfferSigner.Discount {
        let signer = try OfferSigner(
            bundleID: "com.example.app",
            keyID: "SERVER1",
            privateKeyPEM: key.pemRepresentation
        )
        return try signer.sign(
            "come_back",
            of: "com.example.club",
            for: username,
            nonce: try #require(nonce),
            at: date
        )
    }

    /// Whether a signature is of a text with the invisible separator.
    private func isSignature(_ discount: OfferSigner.Discount, of fields: [String]) throws -> Bool {
        let der = try #require(Data(base64Encoded: discount.signature))
        return key.publicKey.isValidSignature(
            try P256.Signing.ECDSASignature(derRepresentation: der),
            for: Data(fields.joined(separator: "\u{2063}").utf8)
        )
    }

    @Test func aSignatureIsOfAllFieldsInTheOrderOfTheStore() throws {
        let discount = try sign()
        #expect(discount.identifier == "come_back" && discount.keyIdentifier == "SERVER1")
        #expect(discount.timestamp == 1_800_000_000_000 && discount.nonce == nonce)
        let fields = [
            "com.example.app", "SERVER1", "com.example.club", "come_back", "",
            "7e3fb204-2b43-4f2f-8f0e-2f2a0d6b8e3c", "1800000000000",
        ]
        #expect(try isSignature(discount, of: fields))
        for index in fields.indices {
            var others = fields
            others[index] += "x"
            let isOfOthers = try isSignature(discount, of: others)
            #expect(!isOfOthers, "field \(index)")
        }
    }

    @Test func theUsersNameIsSignedInLowerCase() throws {
        let fields = [
            "com.example.app", "SERVER1", "com.example.club", "come_back", "ada@example.com",
            "7e3fb204-2b43-4f2f-8f0e-2f2a0d6b8e3c", "1800000000000",
        ]
        let isInLowerCase = try isSignature(try sign(for: "Ada@Example.COM"), of: fields)
        #expect(isInLowerCase)
    }

    @Test func twoSignaturesAreNeverForOnePayment() throws {
        let signer = try OfferSigner(
            bundleID: "com.example.app",
            keyID: "SERVER1",
            privateKeyPEM: key.pemRepresentation
        )
        let nonces = try (0..<2).map { _ in try signer.sign("a", of: "b").nonce }
        #expect(nonces[0] != nonces[1])
    }
}

import ArgumentParser
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
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: data(parts[2]))
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

    private func data(_ text: String) throws -> Data {
        var text = text.replacing("-", with: "+").replacing("_", with: "/")
        while text.count % 4 != 0 { text += "=" }
        return try #require(Data(base64Encoded: text))
    }

    private func decoded(_ text: String) throws -> String {
        String(decoding: try data(text), as: UTF8.self)
    }
}

@Suite struct OperatorCommandTests {
    @Test(arguments: [
        ["keys", "create", "--directory", "d"], ["token", "account", "--account", "ada"],
        ["token", "admin"], ["products", "import", "f"], ["products", "export"],
        ["products", "list", "--json"], ["status", "--no-color"], ["lag", "--max-age", "60"],
        ["dead-letters", "list", "--service", "receipts"],
        ["dead-letters", "show", "payments", "1"],
        ["dead-letters", "redrive", "ada"], ["dead-letters", "redrive", "--all"],
        ["dead-letters", "discard", "receipts", "1", "--reason", "a test"],
        ["products", "price", "a", "USA", "0.99"], ["buy", "a", "--account", "ada"],
        ["refund", "1"],
        ["approve", "1"], ["decline", "1", "--payments-url", "https://pay.example"],
    ])
    func commandsAreUnderstood(arguments: [String]) throws {
        _ = try OperatorCommand.parseAsRoot(arguments)
    }

    @Test(arguments: [
        ["keys", "create"], ["keys", "create", "--directory", "d", "--admin", "../x"],
        ["buy", "a b", "--account", "ada"], ["buy", "a", "--account", "ada", "--storefront", "US"],
        ["buy", "a", "--account", "ada", "--timeout", "0"], ["refund", "x"],
        ["token", "admin", "--lifetime", "86401"], ["products", "list", "--catalog-url", "here"],
        ["sell"], ["dead-letters", "discard", "receipts", "1"], ["dead-letters", "redrive"],
        ["dead-letters", "discard", "receipts", "1", "--reason", "  "],
        ["dead-letters", "redrive", "ada", "--all"], ["dead-letters", "show", "nobody", "1"],
        ["lag", "--max-age", "-1"], ["products", "price", "a", "US", "1"],
    ])
    func whatIsNotUnderstoodEndsInTheUsageCode(arguments: [String]) {
        let error = #expect(throws: (any Error).self) {
            _ = try OperatorCommand.parseAsRoot(arguments)
        }
        #expect(error.map { OperatorCommand.exitCode(for: $0) } == .validationFailure)
    }

    @Test func everyCommandExplainsItself() {
        #expect(OperatorCommand.helpMessage().contains("Exit codes:"))
        #expect(BuyCommand.helpMessage().contains("sandbox_needs_approval"))
        #expect(CreateKeysCommand.helpMessage().contains("APP_KEYS_DIRECTORY"))
    }

    @Test func tablesLineUp() {
        #expect(
            Palette.plain.table([["A", "BB", "C"], ["long", "b", "c"]])
                == "A     BB  C\nlong  b   c"
        )
        #expect(
            Palette.plain.table([["A", "N"], ["b", "1"], ["", "12"]], numbers: [1], indent: 2)
                == "  A   N\n  b   1\n     12"
        )
        #expect(Palette.plain.table([[String]]()) == "")
        #expect(Palette.plain.table([["A", "B"], ["long", ""]]) == "A     B\nlong")
    }

    @Test func theCatalogIsListedByID() {
        let price = Money(minorUnits: 99, currency: Currency(unchecked: "USD"))
        let draft = ProductDraft(
            type: .consumable,
            isOnSale: false,
            prices: [Storefront(unchecked: "USA"): price],
            localizations: [:]
        )
        let rows = ListProductsCommand.rows(
            of: CatalogDocument(products: [
                ProductID(unchecked: "b"): draft, ProductID(unchecked: "a"): draft,
            ])
        )
        #expect(rows.map(\.first) == ["PRODUCT", "a", "b"])
        #expect(rows.last == ["b", "consumable", "no", "USA 0.99 USD", ""])
    }
}

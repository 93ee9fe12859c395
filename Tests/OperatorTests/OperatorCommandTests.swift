import ArgumentParser
import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import Operator

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
        ["buy", "a", "--account", "ada", "--key", "case-7"],
        ["refund", "1"], ["refund-requests", "list", "--state", "open"],
        ["refund-requests", "list", "--state", "failed"],
        ["refund-requests", "show", "1"], ["refund-requests", "approve", "1", "--amount", "1.50"],
        ["refund-requests", "decline", "1", "--reason", "used up"],
        ["subscriptions", "list", "--state", "expired"],
        ["subscriptions", "show", "1"], ["subscriptions", "cancel", "1"],
        ["subscriptions", "resume", "1"], ["subscriptions", "extend", "1", "--days", "90"],
        [
            "subscriptions", "extend-all", "club", "--app", "com.example.app", "--days", "3",
            "--storefront", "USA", "--key", "outage-7",
        ],
        [
            "families", "create", "--app", "com.example.app", "--organizer", "ada", "--member",
            "ben",
        ],
        ["families", "list", "--app", "com.example.app", "--account", "ben"],
        ["families", "show", "019b2a3c-7a10-7a10-8a10-0123456789ab"],
        ["families", "add", "019b2a3c-7a10-7a10-8a10-0123456789ab", "dora", "--reason", "By mail"],
        ["families", "share", "019b2a3c-7a10-7a10-8a10-0123456789ab", "ben", "off"],
        ["families", "remove", "019b2a3c-7a10-7a10-8a10-0123456789ab", "ben"],
        ["families", "end", "019b2a3c-7a10-7a10-8a10-0123456789ab"],
        [
            "codes", "create", "--app", "com.example.app", "--product", "club", "--offer",
            "spring", "--count", "9",
        ],
        [
            "codes", "create", "--app", "com.example.app", "--product", "club", "--offer",
            "spring", "--count", "9", "--word", "SPRING", "--expires", "2027-06-30T22:00:00Z",
        ],
        ["codes", "list", "--limit", "5"], ["codes", "show", "3"],
        ["codes", "deactivate", "3", "--reason", "Lost"],
        ["offers", "list"], ["offers", "list", "club", "--json"],
        ["test", "dispute", "1", "--step", "win"], ["test", "raise", "1", "3.99"],
        ["test", "answer", "1", "agree"], ["test", "storefront", "ada", "FRA"],
        ["test", "renew", "1", "--key", "a"], ["test", "resolve", "1"],
        ["test", "expire", "1", "--intent", "5"],
        ["clock", "show", "--json"], ["clock", "advance", "1h30m", "--timeout", "300"],
        ["clock", "set", "2027-03-01T12:00:00Z"], ["clock", "rate", "1h=1d"],
        ["clock", "rate", "apple"], ["clock", "freeze"], ["clock", "run"], ["clock", "resume"],
        ["approve", "1"], ["decline", "1", "--payments-url", "https://pay.example"],
        ["replay", "--verify", "--tell-console", "--console-url", "http://c", "--admin", "mia"],
    ])
    func commandsAreUnderstood(arguments: [String]) throws {
        _ = try OperatorCommand.parseAsRoot(arguments)
    }

    @Test(arguments: [
        ["keys", "create"], ["keys", "create", "--directory", "d", "--admin", "../x"],
        ["buy", "a b", "--account", "ada"], ["buy", "a", "--account", "ada", "--storefront", "US"],
        ["buy", "a", "--account", "ada", "--key", ""],
        ["buy", "a", "--account", "ada", "--timeout", "0"], ["refund", "x"],
        ["token", "admin", "--lifetime", "86401"], ["products", "list", "--catalog-url", "here"],
        ["sell"], ["dead-letters", "discard", "receipts", "1"], ["dead-letters", "redrive"],
        ["dead-letters", "discard", "receipts", "1", "--reason", "  "],
        ["dead-letters", "redrive", "ada", "--all"], ["dead-letters", "show", "nobody", "1"],
        ["lag", "--max-age", "-1"], ["products", "price", "a", "US", "1"],
        ["refund-requests", "list", "--state", "new"], ["refund-requests", "decline", "1"],
        ["refund-requests", "approve", "1", "--revoke", "--keep"],
        ["subscriptions", "extend", "1"], ["subscriptions", "extend", "1", "--days", "91"],
        ["subscriptions", "extend-all", "club", "--app", "com.example.app", "--days", "0"],
        ["products", "price", "a", "USA", "0.99", "--raise-subscribers"],
        ["families", "list", "--account", "ben"], ["test", "dispute", "1", "--step", "pay"],
        ["families", "create", "--app", "com.example.app", "--member", "ben"],
        ["families", "show", "7"],
        ["families", "share", "019b2a3c-7a10-7a10-8a10-0123456789ab", "ben", "perhaps"],
        ["codes", "create", "--app", "com.example.app", "--product", "club", "--count", "9"],
        ["codes", "show", "spring"], ["codes", "list", "--limit", "0"],
        ["test", "raise", "1"], ["test", "answer", "1", "perhaps"],
        ["test", "expire", "1", "--intent", "6"], ["test", "renew"],
        ["clock", "advance", "31"], ["clock", "set", "tomorrow"], ["clock", "rate", "1h=1m"],
        ["clock", "advance", "31d", "--timeout", "0"],
        ["subscriptions", "list", "--state", "new"], ["subscriptions", "show"],
        ["replay", "--tell-console"],
    ])
    func whatIsNotUnderstoodEndsInTheUsageCode(arguments: [String]) {
        let error = #expect(throws: (any Error).self) {
            _ = try OperatorCommand.parseAsRoot(arguments)
        }
        #expect(error.map { OperatorCommand.exitCode(for: $0) } == .validationFailure)
    }

    @Test(arguments: [
        (["subscriptions", "extend", "1", "--days", "91"], "--days must be from 1 to 90."),
        (
            [
                "families", "create", "--app", "com.example.app", "--organizer", "ada",
                "--organizer", "ben", "--member", "cleo",
            ],
            "A family has one organizer. Name the others with --member."
        ),
        (
            ["families", "list", "--account", "ben"],
            "--account needs --app: an account is a buyer in one app."
        ),
        (["families", "show", "7"], "'7' is not \(FamilyID.form)."),
        (
            [
                "codes", "create", "--app", "com.example.app", "--product", "club", "--offer",
                "spring", "--count", "9", "--expires", "soon",
            ],
            "'soon' is not a time in UTC such as 2026-11-21T14:00:00Z."
        ),
        (
            ["products", "price", "a", "USA", "0.99", "--raise-subscribers"],
            "--raise-subscribers needs --from, the time from which renewals cost more."
        ),
        (
            ["refund-requests", "list", "--state", "new"],
            "'new' is not a state: choose one of "
        ),
    ])
    func whatIsWrongIsSaid(arguments: [String], words: String) {
        let error = #expect(throws: (any Error).self) {
            _ = try OperatorCommand.parseAsRoot(arguments)
        }
        let message = error.map { OperatorCommand.message(for: $0) } ?? ""
        #expect(message.contains(words), "\(message)")
    }

    @Test func everyCommandExplainsItself() {
        #expect(OperatorCommand.helpMessage().contains("Exit codes:"))
        #expect(BuyCommand.helpMessage().contains("sandbox_needs_approval"))
        #expect(CreateKeysCommand.helpMessage().contains("APP_KEYS_DIRECTORY"))
    }

    /// Examples and JSON are indented, and a terminal of 80 columns must not wrap them.
    @Test func aNarrowTerminalBreaksNoExample() {
        var commands: [any ParsableCommand.Type] = [OperatorCommand.self]
        var count = 0
        while count < commands.count {
            let configuration = commands[count].configuration
            commands += configuration.subcommands
            for line in configuration.discussion.split(separator: "\n") where line.hasPrefix(" ") {
                #expect(line.count <= 80, "\(commands[count]): \(line)")
            }
            count += 1
        }
        #expect(count > 30)
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

import ArgumentParser
import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI

/// `counterfoil products price`.
struct PriceProductCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "price",
        abstract: "Changes the price of a product in one storefront; the rest stays.",
        discussion: """
            Refused (1) if somebody else changes the product at the same moment: nothing is \
            overwritten. Purchases that were accepted at the old price stay at it.

            Examples:
              counterfoil products price com.example.pro USA 11.99
              counterfoil products price com.example.pro JPN 1500 --currency JPY

            JSON: the product, whole, as it is now
            """
    )

    @OptionGroup var catalog: CatalogOptions

    @Argument(help: "The product.", transform: identifier)
    var product: ProductID

    @Argument(help: "The storefront, such as USA.", transform: identifier)
    var storefront: Storefront

    @Argument(help: "The price of one, in the currency's unit: 11.99.")
    var amount: String

    @Option(
        help: "The currency; needed only where the product had no price in the storefront.",
        transform: identifier
    )
    var currency: Currency?

    func perform() async throws {
        let connection = try catalog.connection()
        let path = Routes.adminProduct(product)
        let old = try await connection.send(.GET, path)
        let edit = try ProductEdit(old)
        guard let currency = currency ?? edit.price(in: storefront)?.currency else {
            throw OperatorError(
                .usage,
                "\(product) has no price in \(storefront) yet: say the currency with --currency."
            )
        }
        guard let price = Money(amount, currency) else {
            throw OperatorError(
                .usage,
                "'\(amount)' is no price in \(currency): give it as \(Money.example(currency))."
            )
        }
        let answer = try await connection.send(
            .PUT,
            path,
            StoreConnection.Content(
                headers: [("If-Match", "\"\(edit.version)\"")],
                body: try edit.draft(price, in: storefront)
            )
        )
        if catalog.store.json {
            Console.say(try ExportProductsCommand.pretty(answer))
        } else {
            let before = edit.price(in: storefront).map { "\($0)" } ?? "not sold"
            let version = try ProductEdit(answer).version
            let isSame = version == edit.version
            Console.say(
                "\(product) in \(storefront): \(before) → \(price)"
                    + (isSame ? ", as it was" : ", version \(version)")
            )
        }
    }
}

/// A product as the catalog answers it, to be sent back with another price.
///
/// Fields that this version does not know are not lost.
struct ProductEdit {
    private let members: [String: Any]
    private let prices: [String: Any]
    /// The version that the change is made of.
    let version: Int

    init(_ product: Data) throws(OperatorError) {
        guard
            let members = try? JSONSerialization.jsonObject(with: product) as? [String: Any],
            let version = members["version"] as? Int
        else { throw OperatorError(.failed, "catalog gave an answer that is no product.") }
        self.members = members
        self.version = version
        prices = members["prices"] as? [String: Any] ?? [:]
    }

    /// What it costs.
    func price(in storefront: Storefront) -> Money? {
        guard let price = prices[storefront.rawValue] as? [String: Any],
            let minorUnits = price["minorUnits"] as? Int,
            let currency = (price["currency"] as? String).flatMap(Currency.init(rawValue:))
        else { return nil }
        return Money(minorUnits: Int64(minorUnits), currency: currency)
    }

    /// The product with another price, as administrators send it.
    func draft(_ price: Money, in storefront: Storefront) throws -> Data {
        var prices = prices
        prices[storefront.rawValue] = [
            "minorUnits": price.minorUnits, "currency": price.currency.rawValue,
        ]
        var draft = members
        draft["prices"] = prices
        // Its id and version are the catalog's business.
        draft["id"] = nil
        draft["version"] = nil
        return try JSONSerialization.data(withJSONObject: draft)
    }
}

extension Money {
    /// Reads an amount in the currency's unit, with as many decimals as the currency has at most.
    ///
    /// - Returns: `nil` for anything that is no such amount, and for negative ones.
    init?(_ text: String, _ currency: Currency) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let digits = "0123456789"
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }),
            parts.joined().allSatisfy(digits.contains)
        else { return nil }
        let decimals = parts.count == 2 ? String(parts[1]) : ""
        guard decimals.count <= currency.exponent else { return nil }
        let zeros = String(repeating: "0", count: currency.exponent - decimals.count)
        guard let minorUnits = Int64(parts[0] + decimals + zeros) else { return nil }
        self.init(minorUnits: minorUnits, currency: currency)
    }

    /// What an amount of a currency looks like.
    static func example(_ currency: Currency) -> String {
        switch currency.exponent {
        case 0: "1500"
        case 3: "1.500"
        default: "11.99"
        }
    }
}

import ArgumentParser
import EventTypes
import Foundation
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil products price`.
struct PriceProductCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "price",
        abstract: "Changes the price of a product in one storefront, and nothing else.",
        discussion: """
            If somebody else changes the product at the same moment, the change is refused (exit \
            code 1): nothing is overwritten. Purchases that were accepted at the old price keep \
            it.

            Examples:
              counterfoil products price com.example.pro USA 11.99
              counterfoil products price com.example.pro JPN 1500 --currency JPY

            JSON: the whole product, after the change
            """
    )

    @OptionGroup var catalog: CatalogOptions

    @Argument(help: "The product.", transform: identifier)
    var product: ProductID

    @Argument(help: "The storefront, such as USA.", transform: identifier)
    var storefront: Storefront

    @Argument(help: "The price of one item, in units of the currency: 11.99.")
    var amount: String

    @Option(
        help: "The currency; needed only if the product has no price in the storefront yet.",
        transform: identifier
    )
    var currency: Currency?

    func perform() async throws {
        let connection = try await catalog.connection()
        let path = Routes.adminProduct(product)
        let old = try await connection.send(.GET, path)
        let edit = try ProductEdit(old)
        guard let currency = currency ?? edit.price(in: storefront)?.currency else {
            throw OperatorError(
                .usage,
                "\(product) has no price in \(storefront) yet: name the currency with --currency."
            )
        }
        guard let price = Money(amount, currency) else {
            throw OperatorError(
                .usage,
                "'\(amount)' is no price in \(currency): write it as \(Money.example(currency))."
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

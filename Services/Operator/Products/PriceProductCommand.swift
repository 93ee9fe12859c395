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

            With --from the change is scheduled: the price changes at that time by itself. A \
            storefront has one scheduled change. Another one replaces it, and setting the price \
            without --from cancels it.

            A lower price reaches all subscribers at their next renewal. A higher price does not \
            change what existing subscribers pay, unless you say --raise-subscribers. Then the \
            store asks or informs each of them in time before the renewal that costs more.

            Examples:
              counterfoil products price com.example.pro USA 11.99
              counterfoil products price com.example.pro JPN 1500 --currency JPY
              counterfoil products price club USA 12.99 --from 2027-01-01T00:00:00Z
              counterfoil products price club USA 12.99 --from 2027-01-01T00:00:00Z \\
                --raise-subscribers

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

    @Option(
        help: "The time from which the price counts, such as 2027-01-01T00:00:00Z (default: now).",
        transform: moment
    )
    var from: StoreTime?

    @Flag(help: "Raise the price for existing subscribers, too; needs --from.")
    var raiseSubscribers = false

    @OptionGroup var why: ReasonOption

    func validate() throws {
        guard from != nil || !raiseSubscribers else {
            throw ValidationError(
                "--raise-subscribers needs --from, the time from which renewals cost more."
            )
        }
    }

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
                "'\(amount)' is not a price in \(currency): write it as \(Money.example(currency))."
            )
        }
        let answer = try await connection.send(
            .PUT,
            path,
            StoreConnection.Content(
                headers: [("If-Match", "\"\(edit.version)\"")],
                body: try edit.draft(
                    price,
                    in: storefront,
                    from: from,
                    for: raiseSubscribers ? .raise : .preserve,
                    because: why.reason
                )
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
                    + (from.map { " from \($0)" } ?? "")
                    + (isSame ? ", as it was" : ", version \(version)")
            )
        }
    }
}

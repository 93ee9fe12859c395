import ArgumentParser
import EventTypes
import OperatorCore
import StoreAPI

/// `counterfoil subscriptions raise`.
struct RaiseSubscriptionsCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "raise",
        abstract: "Raises the price of all running subscriptions to a product in a storefront.",
        discussion: """
            Raise the price of the product first, as with 'products price': nobody is charged more \
            than the catalog says. Each subscriber is asked, or informed, in time before the \
            renewal that costs more. A subscriber who is asked and does not agree is not charged, \
            and the subscription ends.

            If the command was stopped, run it again: subscriptions that were raised already stay \
            as they are. Run it again for people who subscribe meanwhile, with the same --from. \
            Subscriptions whose earlier raise is being charged at the moment are counted as \
            waiting. Run it again for them as well.

            It lists subscriptions and raises prices, so it needs two scopes: read or support, and \
            merchandiser.

            Examples:
              counterfoil subscriptions raise com.example.club USA 12.99 --dry-run
              counterfoil subscriptions raise club USA 12.99 --from 2027-01-01T00:00:00Z

            JSON: {"raised": 3, "others": 5, "waiting": 0}
            """
    )

    @OptionGroup var store: StoreOptions
    @OptionGroup var access: SubscriptionAccess
    @OptionGroup var why: ReasonOption

    @Argument(help: "The product.", transform: identifier)
    var product: ProductID

    @Argument(help: "The storefront, such as USA.", transform: identifier)
    var storefront: Storefront

    @Argument(help: "The price of one period, in units of the currency: 12.99.")
    var amount: String

    @Option(
        help: "The time from which renewals cost this, such as 2027-01-01T00:00:00Z.",
        transform: moment
    )
    var from: StoreTime?

    @Flag(help: "Only count the subscriptions; change nothing.")
    var dryRun = false

    func perform() async throws {
        let amount = amount
        let raise = SubscriptionRaise(
            of: product,
            in: storefront,
            from: from,
            because: why.reason,
            isDryRun: dryRun
        ) { currency in
            guard let price = Money(amount, currency) else {
                throw OperatorError(
                    .usage,
                    "'\(amount)' is not a price in \(currency): write it as \(Money.example(currency))."
                )
            }
            return price
        }
        var counts = SubscriptionRaise.Counts()
        var next: TransactionID?
        repeat {
            // A token is valid for minutes, and a large store takes longer.
            let connection = try await access.connection(of: store)
            let page = try await raise.page(after: next, over: connection)
            counts = counts + page.counts
            next = page.next
        } while next != nil
        if store.json {
            try Console.say(json: counts)
        } else {
            Console.say(
                "\(counts.raised) subscriptions to \(product) in \(storefront) "
                    + (dryRun ? "would be raised." : "are raised.")
            )
            if counts.waiting > 0 {
                Console.say(
                    "\(counts.waiting) are being charged an earlier raise: run this again later."
                )
            }
        }
    }
}

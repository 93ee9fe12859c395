import ArgumentParser
import EventTypes
import NIOHTTP1
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

    /// The numbers of subscriptions of a run.
    private struct Counts: Encodable {
        var raised = 0
        var others = 0
        var waiting = 0
    }

    /// The outcome for one subscription.
    private enum Outcome {
        /// The price is raised, or was already.
        case raised
        /// The subscription costs as much, has ended, or is to another product.
        case other
        /// An earlier raise is being charged, so the price can be raised only later.
        case waiting
    }

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
        let connection = try await access.connection(of: store)
        var counts = Counts()
        var next: TransactionID?
        repeat {
            let page = try await connection.send(
                .GET,
                Routes.adminSubscriptions,
                StoreConnection.Content(query: next.map { [("after", $0.rawValue)] } ?? []),
                as: SubscriptionsResponse.self
            )
            for subscription in page.subscriptions {
                switch try await raise(subscription, over: connection) {
                case .raised: counts.raised += 1
                case .other: counts.others += 1
                case .waiting: counts.waiting += 1
                }
            }
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

    /// Raises one subscription.
    private func raise(
        _ subscription: Subscription,
        over connection: StoreConnection
    ) async throws -> Outcome {
        let present = subscription.pendingProduct ?? subscription.product
        guard subscription.state.isRunning, subscription.storefront == storefront,
            present.id == product
        else { return .other }
        let currency = present.price.currency
        guard let price = Money(amount, currency) else {
            throw OperatorError(
                .usage,
                "'\(amount)' is no price in \(currency): write it as \(Money.example(currency))."
            )
        }
        guard price.minorUnits > present.price.minorUnits else { return .other }
        guard !dryRun else { return .raised }
        let request = PriceIncreaseRequest(
            productID: product,
            price: price,
            effectiveAt: from,
            reason: why.reason
        )
        return try await send(request, for: subscription.id, over: connection)
    }

    /// Sends the request for one subscription, which may have changed or ended since it was read.
    ///
    /// - Throws: `OperatorError` if the store refuses for another reason, such as a price above the
    ///   catalog's.
    private func send(
        _ request: PriceIncreaseRequest,
        for id: TransactionID,
        over connection: StoreConnection
    ) async throws(OperatorError) -> Outcome {
        do {
            _ = try await connection.send(
                .PUT,
                Routes.adminPriceIncrease(id),
                .json(request),
                as: SubscriptionResponse.self
            )
            return .raised
        } catch {
            switch error.problemCode {
            case "subscription_ended", "price_not_higher", "not_next_product": return .other
            case "price_in_use": return .waiting
            default: throw error
            }
        }
    }
}

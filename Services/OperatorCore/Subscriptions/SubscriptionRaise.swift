package import EventTypes
import NIOHTTP1
import StoreAPI

/// A higher price for all running subscriptions to a product in a storefront.
///
/// The store asks or informs each subscriber in time. Repeating it changes nothing for those who were
/// raised already.
package struct SubscriptionRaise: Sendable {
    /// The numbers of subscriptions.
    package struct Counts: Codable, Hashable, Sendable {
        /// Those whose price is raised, or was already.
        package var raised = 0
        /// Those that cost as much, have ended, or are to another product.
        package var others = 0
        /// Those whose earlier raise is being charged, so that they can be raised only later.
        package var waiting = 0

        /// Makes numbers.
        package init(raised: Int = 0, others: Int = 0, waiting: Int = 0) {
            self.raised = raised
            self.others = others
            self.waiting = waiting
        }

        /// The sums of two.
        package static func + (one: Counts, other: Counts) -> Counts {
            Counts(
                raised: one.raised + other.raised,
                others: one.others + other.others,
                waiting: one.waiting + other.waiting
            )
        }
    }

    private let product: ProductID
    private let storefront: Storefront
    private let price: @Sendable (Currency) throws -> Money?
    private let effectiveAt: StoreTime?
    private let reason: ActReason?
    private let isDryRun: Bool

    /// Makes a raise.
    ///
    /// - Parameters:
    ///   - product: The product.
    ///   - storefront: The storefront.
    ///   - effectiveAt: The time from which renewals cost it; `nil` for the next one in time.
    ///   - reason: The administrator's reason.
    ///   - isDryRun: Whether subscriptions are only counted.
    ///   - price: The price of one period in a currency; `nil` if nobody who pays in it is raised.
    package init(
        of product: ProductID,
        in storefront: Storefront,
        from effectiveAt: StoreTime?,
        because reason: ActReason?,
        isDryRun: Bool,
        to price: @escaping @Sendable (Currency) throws -> Money?
    ) {
        self.product = product
        self.storefront = storefront
        self.effectiveAt = effectiveAt
        self.reason = reason
        self.isDryRun = isDryRun
        self.price = price
    }

    /// Raises the subscriptions of one page of the store's list.
    ///
    /// - Parameters:
    ///   - place: The end of the page before; `nil` for the first page.
    ///   - connection: A connection to `payments`.
    /// - Returns: The numbers of this page, and its end if there is a next one.
    /// - Throws: `OperatorError` if the store refuses, such as for a price above the catalog's; what
    ///   the price throws.
    package func page(
        after place: TransactionID?,
        over connection: StoreConnection
    ) async throws -> (counts: Counts, next: TransactionID?) {
        let page = try await connection.send(
            .GET,
            Routes.adminSubscriptions,
            StoreConnection.Content(query: place.map { [("after", $0.rawValue)] } ?? []),
            as: SubscriptionsResponse.self
        )
        var counts = Counts()
        for subscription in page.subscriptions {
            counts = counts + (try await raise(subscription, over: connection))
        }
        return (counts, page.next)
    }

    private func raise(
        _ subscription: Subscription,
        over connection: StoreConnection
    ) async throws -> Counts {
        let present = subscription.renewalProduct
        guard subscription.state.isRunning, subscription.storefront == storefront,
            present.id == product
        else { return Counts(others: 1) }
        guard let price = try price(present.price.currency),
            price.minorUnits > present.price.minorUnits
        else { return Counts(others: 1) }
        guard !isDryRun else { return Counts(raised: 1) }
        let request = PriceIncreaseRequest(
            productID: product,
            price: price,
            effectiveAt: effectiveAt,
            reason: reason
        )
        return try await send(request, for: subscription.id, over: connection)
    }

    /// Sends the request for one subscription, which may have changed or ended since it was read.
    private func send(
        _ request: PriceIncreaseRequest,
        for id: TransactionID,
        over connection: StoreConnection
    ) async throws(OperatorError) -> Counts {
        do {
            _ = try await connection.send(
                .PUT,
                Routes.adminPriceIncrease(id),
                .json(request),
                as: SubscriptionResponse.self
            )
            return Counts(raised: 1)
        } catch {
            switch error.problemCode {
            case "subscription_ended", "price_not_higher", "not_next_product":
                return Counts(others: 1)
            case "price_in_use": return Counts(waiting: 1)
            default: throw error
            }
        }
    }
}

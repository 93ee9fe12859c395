import EventTypes
import OperatorCore

/// A raise of the price for those who subscribe already: what is asked for, and how far it is.
///
/// Pure. The work goes through the store's list of subscriptions, page by page, and its place is kept
/// after each page. A page that is done again raises nothing twice.
struct RaiseWork: Codable, Hashable, Sendable {
    let productID: ProductID
    let storefront: Storefront
    /// The new price of one period.
    let price: Money
    /// The time from which renewals cost it; `nil` for the next one in time.
    let effectiveAt: StoreTime?
    /// The numbers that the count has found; `nil` until it is through.
    var counted: SubscriptionRaise.Counts?
    /// The numbers so far.
    var counts = SubscriptionRaise.Counts()
    /// The end of the last page that is done; `nil` before the first one is.
    var place: TransactionID?

    /// The number of subscriptions in the list when they were counted.
    var total: Int { counted.map(Self.sum) ?? 0 }

    /// The number of subscriptions that were looked at since it began to raise.
    var done: Int { Self.sum(counts) }

    /// The raise, as the store is asked for it page by page.
    ///
    /// - Parameters:
    ///   - reason: The reason of whoever began it or went on with it.
    ///   - isDryRun: Whether subscriptions are only counted.
    /// - Returns: The raise.
    func raise(because reason: ActReason?, isDryRun: Bool) -> SubscriptionRaise {
        SubscriptionRaise(
            of: productID,
            in: storefront,
            from: effectiveAt,
            because: reason,
            isDryRun: isDryRun
        ) { [price] theirs in
            // Who began in another currency keeps it, and is counted among the others.
            theirs == price.currency ? price : nil
        }
    }

    /// The number of subscriptions that numbers are about.
    static func sum(_ counts: SubscriptionRaise.Counts) -> Int {
        counts.raised + counts.others + counts.waiting
    }
}

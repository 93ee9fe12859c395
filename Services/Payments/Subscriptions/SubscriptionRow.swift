import EventTypes
import StoreAPI

/// A row of the table of subscriptions, locked.
struct SubscriptionRow: Hashable, Sendable {
    let key: SubscriptionKey
    /// The subscription; `nil` until its first purchase is charged.
    @Boxed var subscription: Subscription? = nil
    /// The payment method of the last purchase, or one chosen since, which pays the renewals.
    var paymentMethod: PaymentMethod?
    /// Whether a test wants a grace period; `nil` if the settings of the store decide.
    var hasGrace: Bool?
    /// The transaction with which the account's introductory offer in the group begins, purchased or
    /// not decided yet (rule S44 of docs/subscriptions.md); `nil` if the account never had one.
    var introductoryID: TransactionID?
    /// The id that the subscription has in the table, as a number; `nil` if it is not there yet.
    var storedID: Int64?
}

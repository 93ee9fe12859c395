import EventTypes

/// The place of an account's only subscription in a group (rule S10 of docs/subscriptions.md).
struct SubscriptionKey: Hashable, Sendable, Comparable {
    let accountID: AccountID
    let bundleID: BundleID
    let groupID: SubscriptionGroupID

    static func < (left: Self, right: Self) -> Bool {
        (left.accountID, left.bundleID, left.groupID)
            < (right.accountID, right.bundleID, right.groupID)
    }
}

extension SubscriptionKey {
    /// The place of the subscription that a transaction belongs to; `nil` if it belongs to none.
    init?(of transaction: Transaction) {
        guard let period = transaction.subscription else { return nil }
        self.init(
            accountID: transaction.accountID,
            bundleID: transaction.bundleID,
            groupID: period.terms.groupID
        )
    }

    /// The place of a subscription.
    init(of subscription: Subscription) {
        self.init(
            accountID: subscription.accountID,
            bundleID: subscription.bundleID,
            groupID: subscription.groupID
        )
    }
}

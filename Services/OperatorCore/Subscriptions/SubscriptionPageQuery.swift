package import EventTypes

/// The subscriptions to list: those of one account, those in one state, or all.
package struct SubscriptionPageQuery: Hashable, Sendable {
    package var account: AccountID?
    package var state: SubscriptionState?
    /// The place where the page before ended; `nil` for the first page.
    package var before: TransactionID?
    /// The most subscriptions of a page.
    package var limit: Int

    /// Makes a query.
    package init(
        account: AccountID? = nil,
        state: SubscriptionState? = nil,
        before: TransactionID? = nil,
        limit: Int = 50
    ) {
        self.account = account
        self.state = state
        self.before = before
        self.limit = limit
    }
}

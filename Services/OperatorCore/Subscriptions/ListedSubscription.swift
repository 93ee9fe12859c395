package import EventTypes

/// A subscription in the books of `payments`, with its next due action.
package struct ListedSubscription: Hashable, Sendable {
    /// The subscription.
    package let subscription: Subscription
    /// The time of its next charge or its end; `nil` if nothing is due any more.
    package let actionAt: StoreTime?

    /// Makes a subscription of a list.
    package init(subscription: Subscription, actionAt: StoreTime?) {
        self.subscription = subscription
        self.actionAt = actionAt
    }
}

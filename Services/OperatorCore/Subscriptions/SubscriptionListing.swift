package import EventTypes

/// A page of subscriptions, the newest first.
package struct SubscriptionListing: Hashable, Sendable {
    package let subscriptions: [ListedSubscription]
    /// The place where the next page begins; `nil` on the last page.
    package let next: TransactionID?

    /// Makes a page.
    package init(subscriptions: [ListedSubscription], next: TransactionID?) {
        self.subscriptions = subscriptions
        self.next = next
    }
}

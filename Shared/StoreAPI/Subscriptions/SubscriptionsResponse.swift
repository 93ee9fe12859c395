public import EventTypes

/// The subscriptions of an account, or a page of all of them.
public struct SubscriptionsResponse: Codable, Hashable, Sendable {
    /// The subscriptions, in the order of their ids.
    public var subscriptions: [Subscription]
    /// The position of the next page; `nil` on the last page.
    public var next: TransactionID?
    /// Makes a response.
    public init(subscriptions: [Subscription], next: TransactionID? = nil) {
        self.subscriptions = subscriptions
        self.next = next
    }
}

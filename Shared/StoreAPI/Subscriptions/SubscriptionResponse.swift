public import EventTypes

/// A response with one subscription.
public struct SubscriptionResponse: Codable, Hashable, Sendable {
    /// The subscription.
    public var subscription: Subscription
    /// Makes a response.
    public init(subscription: Subscription) { self.subscription = subscription }
}

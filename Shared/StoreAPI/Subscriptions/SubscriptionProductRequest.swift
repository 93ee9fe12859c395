public import EventTypes

/// A request to change the product of a subscription with its next renewal.
public struct SubscriptionProductRequest: Codable, Hashable, Sendable {
    /// The product of the next period; the running one withdraws an earlier choice.
    public var productID: ProductID
    /// The reason of an administrator; an account needs none, and its own is passed over.
    public var reason: ActReason?
    /// Makes a request.
    public init(productID: ProductID, reason: ActReason? = nil) {
        self.productID = productID
        self.reason = reason
    }
}

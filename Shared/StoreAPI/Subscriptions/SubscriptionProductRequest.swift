public import EventTypes

/// A request to change the product of a subscription with its next renewal.
public struct SubscriptionProductRequest: Codable, Hashable, Sendable {
    /// The product of the next period; the running one withdraws an earlier choice.
    public var productID: ProductID
    /// Makes a request.
    public init(productID: ProductID) { self.productID = productID }
}

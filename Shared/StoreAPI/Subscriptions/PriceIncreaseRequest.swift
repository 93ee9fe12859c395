public import EventTypes

/// A request to raise the price of one running subscription.
public struct PriceIncreaseRequest: Codable, Hashable, Sendable {
    /// The product whose price rises: the one that the next renewal pays for.
    public var productID: ProductID
    /// The new price of one period.
    public var price: Money
    /// The time from which on a renewal costs it; if missing, as soon as the subscriber had notice.
    public var effectiveAt: StoreTime?
    /// The administrator's reason.
    public var reason: ActReason?

    /// Makes a request.
    public init(
        productID: ProductID,
        price: Money,
        effectiveAt: StoreTime? = nil,
        reason: ActReason? = nil
    ) {
        self.productID = productID
        self.price = price
        self.effectiveAt = effectiveAt
        self.reason = reason
    }
}

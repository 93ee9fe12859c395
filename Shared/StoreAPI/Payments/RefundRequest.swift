public import EventTypes

/// A request to give back money of a purchase: all of it or a part.
public struct RefundRequest: Codable, Hashable, Sendable {
    /// The amount to give back, in the currency that the purchase was paid in.
    ///
    /// The default is the rest: what was paid and not given back yet. A request that names an
    /// amount needs an `Idempotency-Key`, as a repetition would otherwise give back more.
    public var amount: Money?
    /// Whether the refund takes the product away from the buyer.
    ///
    /// By default it does if nothing is left to refund afterwards, unless the store leaves consumables
    /// with their buyers. A part is given back as goodwill, and the buyer keeps the product.
    public var revokes: Bool?
    /// The administrator's reason.
    public var reason: ActReason?

    /// Makes a request.
    public init(amount: Money? = nil, revokes: Bool? = nil, reason: ActReason? = nil) {
        self.amount = amount
        self.revokes = revokes
        self.reason = reason
    }
}

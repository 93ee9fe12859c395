public import EventTypes

/// A buyer's request for a refund of a purchase.
public struct BuyerRefundRequest: Codable, Hashable, Sendable {
    /// The buyer's reason.
    public var reason: RefundReason
    /// Makes a request.
    public init(reason: RefundReason) { self.reason = reason }
}

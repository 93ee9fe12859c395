public import EventTypes

/// A request to reverse a refund.
public struct RefundReversalRequest: Codable, Hashable, Sendable {
    /// The administrator's reason.
    public var reason: ActReason?
    /// Makes a request.
    public init(reason: ActReason? = nil) { self.reason = reason }
}

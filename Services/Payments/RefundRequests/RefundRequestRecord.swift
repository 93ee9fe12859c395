import EventTypes

/// A buyer's request for a refund, as it is stored.
struct RefundRequestRecord: Hashable, Sendable {
    var request: RequestedRefund
    /// The act that decided it; `nil` while it is open.
    var act: Act?
    /// The key under which the buyer asked.
    var key: IdempotencyKey?
}

import EventTypes

/// A decision of an administrator about a buyer's request for a refund.
enum RefundDecision: Hashable, Sendable {
    /// Gives money back; the amount is `nil` for the rest.
    case approve(amount: Money?, revokes: Bool?)
    case decline
}

public import EventTypes

/// An approver's decision on a deferred transaction (Ask to Buy).
public struct ApprovalRequest: Codable, Hashable, Sendable {
    /// The decision.
    public var decision: Decision
    /// The administrator's reason.
    public var reason: ActReason?
    /// Makes a request.
    public init(decision: Decision, reason: ActReason? = nil) {
        self.decision = decision
        self.reason = reason
    }

    /// The possible decisions of an approver.
    public enum Decision: String, Codable, Hashable, Sendable {
        /// Charge the payment.
        case approve
        /// Fail the transaction.
        case decline
    }
}

public import EventTypes

/// An administrator's decision about a buyer's request for a refund.
public struct RefundDecisionRequest: Codable, Hashable, Sendable {
    /// The possible decisions.
    public enum Decision: String, Codable, Hashable, Sendable {
        /// Give money back.
        case approve
        /// Give nothing back.
        case decline
    }

    /// The decision.
    public var decision: Decision
    /// The amount to give back, in the currency that the purchase was paid in.
    ///
    /// The default is the rest: what was paid and not given back yet.
    public var amount: Money?
    /// Whether the refund takes the product away from the buyer.
    ///
    /// By default it does if nothing is left to refund afterwards, unless the store leaves consumables
    /// with their buyers.
    public var revokes: Bool?
    /// The administrator's reason, which a decision to decline must have.
    public var reason: ActReason?

    /// Makes a decision.
    public init(
        decision: Decision,
        amount: Money? = nil,
        revokes: Bool? = nil,
        reason: ActReason? = nil
    ) {
        self.decision = decision
        self.amount = amount
        self.revokes = revokes
        self.reason = reason
    }
}

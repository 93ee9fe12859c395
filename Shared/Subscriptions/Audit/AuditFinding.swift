public import EventTypes

/// An invariant that does not hold for a subscription.
public struct AuditFinding: Hashable, Sendable, CustomStringConvertible {
    /// The invariant.
    public var invariant: SubscriptionInvariant
    /// The subscription.
    public var subscriptionID: TransactionID
    /// The problem in words.
    public var problem: String

    /// Makes a finding.
    public init(
        invariant: SubscriptionInvariant,
        subscriptionID: TransactionID,
        problem: String
    ) {
        self.invariant = invariant
        self.subscriptionID = subscriptionID
        self.problem = problem
    }

    /// The finding in one line.
    public var description: String {
        "subscription \(subscriptionID), invariant \(invariant.rawValue): \(problem)"
    }
}

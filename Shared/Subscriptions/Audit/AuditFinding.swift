public import EventTypes

/// An invariant that does not hold for a subscription.
public struct AuditFinding: Hashable, Sendable, CustomStringConvertible {
    /// The refund of a period that is not the one that was due.
    public struct PeriodRefund: Hashable, Sendable {
        /// The transaction of the period.
        public var transactionID: TransactionID
        /// The amount that is refunded, in minor units.
        public var refunded: Int64
        /// The amount that is due, in minor units.
        public var due: Int64

        /// Makes a refund.
        public init(transactionID: TransactionID, refunded: Int64, due: Int64) {
            self.transactionID = transactionID
            self.refunded = refunded
            self.due = due
        }
    }

    /// The invariant.
    public var invariant: SubscriptionInvariant
    /// The subscription.
    public var subscriptionID: TransactionID
    /// The problem in words.
    public var problem: String
    /// The refund that is wrong, if a change of the subscription made another one due.
    public var refund: PeriodRefund?

    /// Makes a finding.
    public init(
        invariant: SubscriptionInvariant,
        subscriptionID: TransactionID,
        problem: String,
        refund: PeriodRefund? = nil
    ) {
        self.invariant = invariant
        self.subscriptionID = subscriptionID
        self.problem = problem
        self.refund = refund
    }

    /// The finding in one line.
    public var description: String {
        "subscription \(subscriptionID), invariant \(invariant.rawValue): \(problem)"
    }
}

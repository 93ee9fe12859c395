import EventTypes

/// The effect of an event on a subscription.
public enum SubscriptionMove: Hashable, Sendable {
    /// The subscription changes.
    case changed(SubscriptionPlan)
    /// The event was applied before, or asks for a state that is there already.
    case unchanged
    /// A due action that no longer fits: it has no effect (rule S502).
    case stale
    /// This action is overdue and comes first (rule S112). Then the event is applied again.
    case overdue(DueAction)
    /// The event does not apply.
    case refused(SubscriptionRefusal)
    /// The charge pays for nothing and is returned (rule S505).
    case stray

    /// The reason why the event does not apply; `nil` if it does.
    public var refusal: SubscriptionRefusal? {
        guard case .refused(let refusal) = self else { return nil }
        return refusal
    }

    /// The plan of a change.
    public var plan: SubscriptionPlan? {
        guard case .changed(let plan) = self else { return nil }
        return plan
    }

    /// The same move, whose plan names the transaction of the refund that is its cause.
    func naming(_ refunded: TransactionID) -> SubscriptionMove {
        guard case .changed(var plan) = self else { return self }
        plan.refundedTransactionID = refunded
        return .changed(plan)
    }
}

public import EventTypes

/// The state machine of a subscription.
///
/// It decides what an event does to a subscription, and what has to be written and done.
///
/// Pure: the time comes in as an argument. The caller holds the lock of the subscription's row, applies
/// each outcome of a charge once, and writes the plan in the same database transaction.
public struct SubscriptionStateMachine: Sendable {
    /// The decisions of the store.
    public let policy: SubscriptionPolicy
    /// Tells what is due.
    public let dueActions: DueActionRules

    /// Makes a state machine.
    public init(policy: SubscriptionPolicy) {
        self.policy = policy
        dueActions = DueActionRules(policy: policy)
    }

    var periods: PeriodRules { PeriodRules(policy: policy) }

    /// Applies an event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - time: The present.
    ///   - subscription: The account's subscription in the group; `nil` if it never had one.
    /// - Returns: The change, or why there is none.
    public func apply(
        _ event: SubscriptionEvent,
        at time: StoreTime,
        to subscription: Subscription?
    ) -> SubscriptionMove {
        guard let subscription else {
            switch event {
            case .purchaseCharged(let purchase): return begun(purchase, at: time)
            case .due: return .stale
            case .chargeSucceeded: return .stray
            case .chargeFailed, .chargeUnknown: return .unchanged
            default: return .refused(.notSubscribed)
            }
        }
        if case .unknown = subscription.state { return .refused(.stateUnknown) }
        if event.isRequest, let next = dueActions.next(for: subscription), !next.kind.isCharge,
            next.time <= time
        {
            return .overdue(next)
        }
        switch event {
        case .purchaseCharged(let purchase): return bought(purchase, at: time, subscription)
        case .productScheduled(let product): return scheduled(product, subscription)
        case .scheduleWithdrawn: return scheduleWithdrawn(subscription)
        case .offerRedeemed(let offer): return offerRedeemed(offer, subscription)
        case .autoRenewTurnedOn: return turnedOn(subscription)
        case .autoRenewTurnedOff: return turnedOff(subscription)
        case .chargeRequested(let quote): return chargeRequested(quote, at: time, subscription)
        case .renewalForced(let quote): return renewalForced(quote, at: time, subscription)
        case .due(let kind, let quote): return due(kind, quote, at: time, subscription)
        case .chargeSucceeded(let key, let transactionID, let capturedAt):
            return charged(key, transactionID, capturedAt: capturedAt, at: time, subscription)
        case .chargeFailed(let key, let problem):
            return chargeFailed(key, for: problem, subscription)
        case .chargeUnknown: return .unchanged
        case .refunded(let id, let amount, let revokes):
            return refunded(id, amount, revokes: revokes, at: time, subscription).naming(id)
        case .refundReversed(let id, let amount, let restores):
            return refundReversed(id, amount, restores: restores, at: time, subscription)
                .naming(id)
        case .priceIncreaseScheduled(let increase):
            return priceIncreaseScheduled(increase, at: time, subscription)
        case .priceIncreaseWithdrawn: return priceIncreaseWithdrawn(subscription)
        case .priceIncreaseAnswered(let id, let isAgreed):
            return priceIncreaseAnswered(id, isAgreed: isAgreed, subscription)
        case .extended(let request): return extended(by: request, at: time, subscription)
        case .ended(let intent): return ended(intent, at: time, subscription)
        }
    }

    /// Applies everything that is overdue and needs no charge, and then an event.
    ///
    /// - Returns: The plans of overdue actions, and the result of the event.
    public func applyInOrder(
        _ event: SubscriptionEvent,
        at time: StoreTime,
        to subscription: Subscription?
    ) -> (overdue: [SubscriptionPlan], move: SubscriptionMove) {
        var subscription = subscription
        var plans: [SubscriptionPlan] = []
        while true {
            let move = apply(event, at: time, to: subscription)
            guard case .overdue(let action) = move, let present = subscription,
                let plan = carriedOut(action.kind, at: time, present).plan
            else { return (plans, move) }
            plans.append(plan)
            subscription = plan.subscription
        }
    }

    /// Makes the move of a change; the only place that raises the version (rule S7).
    func changed(
        _ subscription: Subscription,
        _ cause: SubscriptionCause,
        _ complete: (inout SubscriptionPlan) -> Void = { _ in }
    ) -> SubscriptionMove {
        var plan = SubscriptionPlan(subscription: subscription, cause: cause)
        plan.subscription.version += 1
        complete(&plan)
        return .changed(plan)
    }

    // MARK: - Auto-renew and scheduled products

    private func turnedOn(_ subscription: Subscription) -> SubscriptionMove {
        guard subscription.state.isRunning else { return .refused(.ended) }
        guard !subscription.isAutoRenewOn else { return .unchanged }
        var after = subscription
        after.autoRenewOffReason = nil
        return changed(after, .autoRenewTurnedOn)
    }

    /// Turns auto-renew off.
    ///
    /// A charge that was begun before is not called back: if it succeeds, the next period is paid
    /// (rule S86). While nothing is paid, the subscription ends at once (row e17).
    private func turnedOff(_ subscription: Subscription) -> SubscriptionMove {
        switch subscription.state {
        case .active:
            guard subscription.isAutoRenewOn else { return .unchanged }
            var after = subscription
            after.autoRenewOffReason = .customer
            after.pendingProduct = nil
            after.pendingOffer = nil
            after.forgetQuestion()
            return changed(after, .autoRenewTurnedOff)
        case .inGracePeriod, .inBillingRetryPeriod:
            return changed(
                expired(subscription, .autoRenewDisabled, .customer),
                .cancelledUnpaid
            )
        case .expired, .revoked, .unknown: return .refused(.ended)
        }
    }

    private func scheduled(
        _ product: SubscriptionProduct,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        guard subscription.state.isRunning else { return .refused(.ended) }
        guard product.terms.groupID == subscription.groupID else { return .refused(.otherGroup) }
        guard product.id != subscription.product.id else { return .refused(.isCurrent) }
        guard ProductChoice.judge(product.id, product.terms, meeting: subscription) == .schedule
        else {
            return .refused(.needsCharge)
        }
        guard product != subscription.pendingProduct || !subscription.isAutoRenewOn else {
            return .unchanged
        }
        var after = subscription
        after.pendingProduct = product
        after.pendingOffer = nil
        after.keepIncrease()
        after.autoRenewOffReason = nil
        return changed(after, .productScheduled)
    }

    private func scheduleWithdrawn(_ subscription: Subscription) -> SubscriptionMove {
        guard subscription.state.isRunning else { return .refused(.ended) }
        guard subscription.pendingProduct != nil else { return .unchanged }
        var after = subscription
        after.pendingProduct = nil
        after.keepIncrease()
        return changed(after, .scheduleWithdrawn)
    }

    // MARK: - Ends

    private func ended(
        _ intent: ExpirationIntent,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        guard subscription.state.isRunning else { return .refused(.ended) }
        let reason: AutoRenewOffReason = intent == .productUnavailable ? .notForSale : .ended
        var cut = closing(subscription, .ended, at: time)
        cut.subscription = expired(cut.subscription, intent, reason)
        let cause: SubscriptionCause =
            intent == .productUnavailable ? .productUnavailable : .ended
        return changed(cut.subscription, cause) { plan in
            plan.changedPeriods = cut.changedPeriods
            plan.refunds = cut.refunds
        }
    }

    /// A subscription that has ended.
    func expired(
        _ subscription: Subscription,
        _ intent: ExpirationIntent,
        _ reason: AutoRenewOffReason
    ) -> Subscription {
        var after = stopped(subscription, reason)
        after.state = .expired
        after.expirationIntent = intent
        return after
    }

    /// A subscription for which nothing is charged any more.
    ///
    /// An open charge is forgotten; if it succeeds, it is stray (rule S505).
    func stopped(_ subscription: Subscription, _ reason: AutoRenewOffReason) -> Subscription {
        var after = subscription
        after.autoRenewOffReason = subscription.autoRenewOffReason ?? reason
        after.pendingProduct = nil
        after.pendingOffer = nil
        after.priceIncrease = nil
        after.charge = nil
        after.renewalProblem = nil
        after.gracePeriodEnd = nil
        after.billingRetryEnd = nil
        return after
    }
}

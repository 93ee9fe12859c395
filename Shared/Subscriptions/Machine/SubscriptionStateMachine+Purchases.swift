import EventTypes

extension SubscriptionStateMachine {
    /// The first purchase in the group (row e1).
    func begun(_ purchase: SubscriptionPurchase, at time: StoreTime) -> SubscriptionMove {
        let period = periods.newPeriod(
            purchase.transactionID,
            .purchase,
            of: purchase.product,
            by: purchase.offer,
            at: time
        )
        var subscription = Subscription(
            accountID: purchase.accountID,
            bundleID: purchase.bundleID,
            storefront: purchase.storefront,
            firstPeriod: period
        )
        subscription.pendingOffer = purchase.laterOffer
        var plan = SubscriptionPlan(subscription: subscription, cause: .purchased)
        plan.newPeriod = period
        return .changed(plan)
    }

    /// A purchase by an account that has a subscription in the group, running or not.
    ///
    /// A purchase that was accepted under other circumstances is stray: of two purchases at once,
    /// one begins the subscription, and the other is returned.
    func bought(
        _ purchase: SubscriptionPurchase,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        let known = [subscription.period, subscription.earlierPeriod].compactMap {
            $0?.transactionID
        }
        guard !known.contains(purchase.transactionID) else { return .unchanged }
        guard purchase.product.terms.groupID == subscription.groupID else {
            return .refused(.otherGroup)
        }
        guard subscription.state.isRunning else {
            return restarted(subscription, purchase, .resubscribed, at: time)
        }
        guard purchase.replaces == subscription.product.id else { return .stray }
        // While the store tries to charge, nothing is paid that could be given back (rule S105).
        let cut =
            subscription.state == .active
            ? closing(subscription, .upgraded, at: time)
            : SubscriptionPlan(subscription: subscription)
        let move = restarted(cut.subscription, purchase, .upgraded, at: time)
        guard case .changed(var plan) = move else { return move }
        plan.changedPeriods = cut.changedPeriods
        plan.refunds = cut.refunds
        return .changed(plan)
    }

    /// Keeps an offer for the running product until its next renewal (rule S52, row e26).
    ///
    /// It replaces one that was redeemed before. The customer stays with the product, so auto-renew is
    /// on afterwards, and no other product is scheduled.
    func offerRedeemed(_ offer: PeriodOffer, _ subscription: Subscription) -> SubscriptionMove {
        guard subscription.state == .active || subscription.state == .inGracePeriod else {
            return .refused(.ended)
        }
        var after = subscription
        after.pendingOffer = offer
        after.pendingProduct = nil
        after.autoRenewOffReason = nil
        return changed(after, .offerRedeemed)
    }

    /// Begins a new count of periods (rules S25 and S110).
    private func restarted(
        _ subscription: Subscription,
        _ purchase: SubscriptionPurchase,
        _ cause: SubscriptionCause,
        at time: StoreTime
    ) -> SubscriptionMove {
        let period = periods.newPeriod(
            purchase.transactionID,
            .purchase,
            of: purchase.product,
            by: purchase.offer,
            at: time
        )
        var after = continued(subscription, with: period)
        after.storefront = purchase.storefront
        after.pendingProduct = nil
        after.pendingOffer = purchase.laterOffer
        after.priceIncrease = nil
        after.raisedAt = nil
        after.autoRenewOffReason = nil
        if purchase.offer?.type == .winBack { after.wonBackAt = period.start }
        return changed(after, cause) { $0.newPeriod = period }
    }

    /// A subscription whose next period is paid.
    func continued(_ subscription: Subscription, with period: PaidPeriod) -> Subscription {
        var after = subscription
        after.state = .active
        after.recentStart = periods.recentStart(of: subscription, beginning: period.start)
        if period.number == 1 { after.epoch += 1 }
        // A charge that was under way when the offer was redeemed is not at its price.
        let isBegun =
            period.offer?.number == 1 && period.offer?.type == after.pendingOffer?.type
            && period.offer?.id == after.pendingOffer?.id
        // Nobody was told a price of the offer in another currency, or for another product.
        let isLost =
            after.pendingOffer?.price.currency != period.price.currency
            || period.product.id != subscription.product.id
        if isBegun || isLost { after.pendingOffer = nil }
        after.closeIncrease(chargedFor: period, before: subscription)
        after.paidTime = subscription.nextPaidTime
        after.earlierPeriod = subscription.period
        after.period = period
        after.attempts = 0
        after.lastTry = nil
        after.charge = nil
        after.renewalProblem = nil
        after.gracePeriodEnd = nil
        after.billingRetryEnd = nil
        after.expirationIntent = nil
        return after
    }

    /// Ends the running period at a time, and takes a next period back that was paid early.
    ///
    /// The part that an upgrade leaves unused is refunded (rule S102). A next period is refunded in
    /// full, whatever the reason: nobody pays for a time without service (rules S107 and S131).
    func closing(
        _ subscription: Subscription,
        _ reason: EarlyEnd.Reason,
        at time: StoreTime
    ) -> SubscriptionPlan {
        var plan = SubscriptionPlan(subscription: subscription)
        var running = subscription.runningPeriod(at: time)
        if running.transactionID != subscription.period.transactionID {
            takeBack(reason, at: time, &plan)
            running = plan.subscription.period
        }
        // A period that is over by now was not replaced. It can still be taken away.
        guard reason != .upgraded || running.effectiveEnd > time else { return plan }
        running.earlyEnd = EarlyEnd(time: time, reason: reason)
        if reason == .upgraded {
            owe(Proration.refund(of: running, at: time), of: &running, revokes: false, &plan)
        }
        plan.subscription.period = running
        plan.changedPeriods.append(running)
        return plan
    }

    /// Takes back a next period that has not begun; the running one is the newest again.
    func takeBack(
        _ reason: EarlyEnd.Reason,
        at time: StoreTime,
        isRefunded: Bool = true,
        _ plan: inout SubscriptionPlan
    ) {
        guard let running = plan.subscription.earlierPeriod else { return }
        var next = plan.subscription.period
        next.earlyEnd = EarlyEnd(time: time, reason: reason)
        if isRefunded { owe(next.refundable, of: &next, revokes: true, &plan) }
        plan.changedPeriods.append(next)
        plan.subscription.period = running
        plan.subscription.earlierPeriod = nil
        plan.subscription.epoch += 1
        plan.subscription.attempts = 0
        plan.subscription.lastTry = nil
        plan.subscription.charge = nil
    }

    private func owe(
        _ amount: Money,
        of period: inout PaidPeriod,
        revokes: Bool,
        _ plan: inout SubscriptionPlan
    ) {
        guard !amount.isZero else { return }
        period.refunded = period.refunded.adding(amount) ?? period.price
        plan.refunds.append(
            SubscriptionPlan.OwedRefund(
                transactionID: period.transactionID,
                amount: amount,
                revokes: revokes
            )
        )
    }
}

import EventTypes

/// Renewals that a test of a sandbox asks for.
extension SubscriptionStateMachine {
    /// Charges for the next period now.
    ///
    /// The running period ends when the charge succeeds. If it fails, nothing changes.
    func renewalForced(
        _ quote: RenewalQuote,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        guard subscription.state == .active else {
            return chargeRequested(quote, at: time, subscription)
        }
        guard subscription.isAutoRenewOn else { return .refused(.notRenewing) }
        guard subscription.period.start <= time else { return .refused(.paidInAdvance) }
        guard subscription.charge == nil else { return .unchanged }
        guard case .changed(var plan) = chargeBegun(quote, at: time, subscription) else {
            return .unchanged
        }
        plan.subscription.charge?.endsPeriod = true
        plan.charge?.endsPeriod = true
        return .changed(plan)
    }

    /// Ends the running period, and begins the next one at a new anchor.
    func renewedEarly(
        _ charge: RenewalCharge,
        _ transactionID: TransactionID,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        var before = subscription
        before.period.earlyEnd = EarlyEnd(time: time, reason: .renewed)
        let period = periods.newPeriod(
            transactionID,
            .renewal,
            of: charge.product,
            by: charge.offer,
            at: time,
            charge: charge.key
        )
        var after = continued(before, with: period)
        after.storefront = charge.storefront
        if after.pendingProduct?.id == charge.product.id { after.pendingProduct = nil }
        return changed(after, .renewed) { plan in
            plan.newPeriod = period
            plan.changedPeriods = [before.period]
        }
    }
}

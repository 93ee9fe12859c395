import EventTypes

extension SubscriptionStateMachine {
    /// Money of a period went back (rows e34 to e36).
    func refunded(
        _ id: TransactionID,
        _ amount: Money,
        revokes: Bool,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        let before = booked(amount, of: id, in: subscription)
        guard revokes else { return changed(before, .moneyRefunded) }
        switch subscription.state {
        case .active: return revokingRefund(of: id, at: time, before)
        case .inGracePeriod, .inBillingRetryPeriod, .expired:
            guard id == subscription.period.transactionID, before.period.earlyEnd == nil else {
                return changed(before, .moneyRefunded)
            }
            var after = before
            after.period.earlyEnd = EarlyEnd(time: time, reason: .refunded)
            let intent: ExpirationIntent =
                subscription.state == .expired
                ? subscription.expirationIntent ?? .autoRenewDisabled : .autoRenewDisabled
            return changed(expired(after, intent, .refund), .lastPeriodRefunded) {
                $0.changedPeriods = [after.period]
            }
        case .revoked, .unknown: return changed(before, .moneyRefunded)
        }
    }

    private func revokingRefund(
        of id: TransactionID,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        let running = subscription.runningPeriod(at: time)
        if id == running.transactionID {
            let cut = closing(subscription, .refunded, at: time)
            var after = stopped(cut.subscription, .refund)
            after.state = .revoked
            return changed(after, .refunded) { plan in
                plan.changedPeriods = cut.changedPeriods
                plan.refunds = cut.refunds
            }
        }
        guard id == subscription.period.transactionID else {
            return changed(subscription, .moneyRefunded)
        }
        // The next period was paid early and has not begun. The running one stays.
        var cut = SubscriptionPlan(subscription: subscription)
        takeBack(.refunded, at: time, isRefunded: false, &cut)
        return changed(stopped(cut.subscription, .refund), .nextPeriodRefunded) { plan in
            plan.changedPeriods = cut.changedPeriods
        }
    }

    /// A refund was reversed (rows e37 and e38).
    ///
    /// Only the period that was taken away comes back, and only if nothing followed it. Auto-renew
    /// stays off.
    func refundReversed(
        _ id: TransactionID,
        _ amount: Money,
        restores: Bool,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        var after = booked(amount.negated, of: id, in: subscription)
        guard restores, id == subscription.period.transactionID, !subscription.state.isRunning,
            subscription.period.earlyEnd?.reason == .refunded
        else { return changed(after, .refundReversed) }
        after.period.earlyEnd = nil
        if subscription.state == .revoked {
            if time < after.period.end {
                after.state = .active
            } else {
                after = expired(after, .autoRenewDisabled, .refund)
            }
        }
        return changed(after, .refundReversed) { $0.changedPeriods = [after.period] }
    }

    /// A subscription whose period has another sum of refunds.
    ///
    /// Older periods are not stored.
    private func booked(
        _ amount: Money,
        of id: TransactionID,
        in subscription: Subscription
    ) -> Subscription {
        var after = subscription
        func book(_ period: inout PaidPeriod) {
            guard period.transactionID == id, period.price.currency == amount.currency else {
                return
            }
            let sum = period.refunded.minorUnits + amount.minorUnits
            period.refunded = Money(
                minorUnits: min(max(sum, 0), period.price.minorUnits),
                currency: amount.currency
            )
        }
        book(&after.period)
        if var earlier = after.earlierPeriod {
            book(&earlier)
            after.earlierPeriod = earlier
        }
        return after
    }
}

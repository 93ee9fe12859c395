import EventTypes

/// The rules for the dates of periods.
///
/// Pure.
struct PeriodRules {
    let policy: SubscriptionPolicy

    /// A period that begins now and sets a new anchor (rule S25).
    func newPeriod(
        _ transactionID: TransactionID,
        _ reason: PeriodReason,
        of product: SubscriptionProduct,
        by offer: PeriodOffer? = nil,
        at time: StoreTime,
        charge: RenewalChargeKey? = nil
    ) -> PaidPeriod {
        period(transactionID, reason, of: product, by: offer, number: 1, from: time, charge)
    }

    /// The period that begins where another one ends (rules S81 and S82).
    ///
    /// It keeps the anchor if it has the same length (rules S25 and S26).
    func successor(
        of period: PaidPeriod,
        _ transactionID: TransactionID,
        of product: SubscriptionProduct,
        by offer: PeriodOffer? = nil,
        charge: RenewalChargeKey
    ) -> PaidPeriod {
        let next = self.period(
            transactionID,
            .renewal,
            of: product,
            by: offer,
            number: period.number + 1,
            from: period.anchor,
            charge
        )
        // A sandbox may have changed its rate. Then the count begins again, without a gap.
        guard next.length == period.length, next.start == period.end else {
            return newPeriod(
                transactionID,
                .renewal,
                of: product,
                by: offer,
                at: period.end,
                charge: charge
            )
        }
        return next
    }

    /// Decides whether a charge continues a period without a gap (rules S81, S82, S83, S505 and S520).
    ///
    /// It does if it was captured in time or in the grace period. It also does if the store itself
    /// was late, unless it was very late. It never does if the next period would be over by now: a
    /// customer does not pay for time that nobody can use.
    func continues(
        _ subscription: Subscription,
        until nextEnd: StoreTime,
        capturedAt: StoreTime,
        at time: StoreTime
    ) -> Bool {
        let end = subscription.period.end
        guard nextEnd > time else { return false }
        if capturedAt <= end { return true }
        switch subscription.state {
        case .active: return time.duration(since: end) <= policy(for: subscription).honouredDelay
        case .inGracePeriod: return subscription.gracePeriodEnd.map { capturedAt < $0 } ?? false
        default: return false
        }
    }

    /// The new ``Subscription/recentStart`` when a period begins (rule S111).
    func recentStart(of subscription: Subscription, beginning start: StoreTime) -> StoreTime {
        let gap = start.duration(since: subscription.period.effectiveEnd)
        return gap > policy(for: subscription).recentGap ? start : subscription.recentStart
    }

    /// The end of a period, counted from its anchor (rule S20).
    func end(of period: PaidPeriod) -> StoreTime {
        policy.end(
            ofPeriod: period.number,
            lasting: period.length,
            from: period.anchor
        )
    }

    private func policy(for subscription: Subscription) -> SubscriptionPolicy {
        policy.scaled(to: subscription.product.terms.period)
    }

    private func period(
        _ transactionID: TransactionID,
        _ reason: PeriodReason,
        of product: SubscriptionProduct,
        by offer: PeriodOffer?,
        number: Int,
        from anchor: StoreTime,
        _ charge: RenewalChargeKey?
    ) -> PaidPeriod {
        let length = offer?.period ?? product.terms.period
        func end(_ number: Int) -> StoreTime {
            policy.end(ofPeriod: number, lasting: length, from: anchor)
        }
        return PaidPeriod(
            transactionID: transactionID,
            reason: reason,
            product: product,
            price: offer?.price ?? product.price,
            offer: offer,
            anchor: anchor,
            number: number,
            start: end(number - 1),
            end: end(number),
            charge: charge
        )
    }
}

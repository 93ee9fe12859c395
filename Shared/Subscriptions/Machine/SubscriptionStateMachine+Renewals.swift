import EventTypes

extension SubscriptionStateMachine {
    /// Carries out a due action, if it is still the next one (rule S502).
    func due(
        _ kind: DueAction.Kind,
        _ quote: RenewalQuote,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        guard let next = dueActions.next(for: subscription), next.kind == kind, next.time <= time
        else { return .stale }
        return kind.isCharge
            ? chargeBegun(quote, at: time, subscription) : carriedOut(kind, at: time, subscription)
    }

    /// The customer asks to be charged for a period that is unpaid (row e7).
    func chargeRequested(
        _ quote: RenewalQuote,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        switch subscription.state {
        case .inGracePeriod, .inBillingRetryPeriod:
            subscription.charge == nil ? chargeBegun(quote, at: time, subscription) : .unchanged
        case .active: .refused(.nothingOwed)
        case .expired, .revoked, .unknown: .refused(.ended)
        }
    }

    /// Begins to charge for the next period.
    ///
    /// Before the end, a product that is not renewed any more is not charged, and asked for again
    /// later. After the end, the price that was due then stays owed (rule S126).
    func chargeBegun(
        _ quote: RenewalQuote,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        guard var product = subscription.nextProduct else { return .stale }
        let told = product.price
        var after = subscription
        after.attempts += 1
        after.lastTry = time
        let price = quote.price(insteadOf: told)
        if needsConsent(insteadOf: told, to: quote.price, subscription) {
            after.renewalProblem = .noConsent
            return .changed(SubscriptionPlan(subscription: after))
        }
        guard let price = subscription.state == .active ? price : price ?? told else {
            after.renewalProblem = .notForSale
            return .changed(SubscriptionPlan(subscription: after))
        }
        product.price = price
        let charge = RenewalCharge(
            key: RenewalChargeKey(
                subscriptionID: subscription.id,
                period: subscription.period.number + 1,
                epoch: subscription.epoch,
                attempt: after.attempts
            ),
            product: product,
            offer: subscription.nextOffer?.limited(by: price),
            storefront: quote.price == nil ? subscription.storefront : quote.storefront,
            startedAt: time
        )
        after.charge = charge
        var plan = SubscriptionPlan(subscription: after)
        plan.charge = charge
        return .changed(plan)
    }

    func chargeFailed(
        _ key: RenewalChargeKey,
        for problem: RenewalProblem,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        guard subscription.charge?.key == key else { return .unchanged }
        var after = subscription
        after.charge = nil
        after.renewalProblem = problem
        return .changed(SubscriptionPlan(subscription: after))
    }

    /// A charge succeeded (rows e11, e14 and e25).
    func charged(
        _ key: RenewalChargeKey,
        _ transactionID: TransactionID,
        capturedAt: StoreTime,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        let paid = [subscription.period, subscription.earlierPeriod].compactMap { $0?.charge }
        guard !paid.contains(key) else { return .unchanged }
        guard let charge = subscription.charge, charge.key == key else { return .stray }
        if charge.endsPeriod == true, subscription.state == .active,
            time < subscription.period.end
        {
            return renewedEarly(charge, transactionID, at: time, subscription)
        }
        var period = periods.successor(
            of: subscription.period,
            transactionID,
            of: charge.product,
            by: charge.offer,
            charge: key
        )
        let continues = periods.continues(
            subscription,
            until: period.end,
            capturedAt: capturedAt,
            at: time
        )
        if !continues {
            period = periods.newPeriod(
                transactionID,
                .renewal,
                of: charge.product,
                by: charge.offer,
                at: time,
                charge: key
            )
        }
        var after = continued(subscription, with: period)
        after.storefront = charge.storefront
        if after.pendingProduct?.id == charge.product.id { after.pendingProduct = nil }
        let cause: SubscriptionCause =
            subscription.state == .active ? (continues ? .renewed : .renewedLate) : .recovered
        return changed(after, cause) { $0.newPeriod = period }
    }

    /// Ends a period, a grace period or a billing retry period (rows e12, e13, e15, e16, e18, e20).
    ///
    /// Grace and billing retry are counted from the date of the period's end, however late the store
    /// is (rule S522).
    func ended(
        _ kind: DueAction.Kind,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        switch kind {
        case .renewalCharge, .retryCharge, .priceIncrease: return .stale
        case .periodEnd:
            guard subscription.isAutoRenewOn else {
                return changed(expired(subscription, .autoRenewDisabled, .customer), .expired)
            }
            if subscription.renewalProblem == .notForSale, subscription.charge == nil {
                return changed(
                    expired(subscription, .productUnavailable, .notForSale),
                    .productUnavailable
                )
            }
            if subscription.renewalProblem == .noConsent, subscription.charge == nil {
                return changed(
                    expired(subscription, .didNotConsentToPriceIncrease, .price),
                    .priceNotAgreed
                )
            }
            return unpaid(subscription, at: time)
        case .graceEnd:
            var after = subscription
            after.state = .inBillingRetryPeriod
            after.gracePeriodEnd = nil
            return changed(after, .gracePeriodEnded)
        case .retryEnd:
            return changed(expired(subscription, .billingError, .billing), .billingRetryEnded)
        }
    }

    /// A period has ended, and the next one is not paid.
    private func unpaid(_ subscription: Subscription, at time: StoreTime) -> SubscriptionMove {
        let end = subscription.period.end
        let policy = self.policy.scaled(to: subscription.product.terms.period)
        var after = subscription
        after.billingRetryEnd = end.advanced(by: policy.billingRetry)
        after.expirationIntent = .billingError
        if let grace = policy.grace(after: subscription.period), end.advanced(by: grace) > time {
            after.state = .inGracePeriod
            after.gracePeriodEnd = end.advanced(by: grace)
            return changed(after, .gracePeriodBegan)
        }
        after.state = .inBillingRetryPeriod
        return changed(after, .billingRetryBegan)
    }
}

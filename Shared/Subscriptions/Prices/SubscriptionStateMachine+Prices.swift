import EventTypes

/// Prices that rise, with the customer's consent or without (rules S120 to S127).
extension SubscriptionStateMachine {
    /// A price rises for a subscription (rule S121); it replaces an increase before it (rule S123).
    ///
    /// The customer is asked or informed when that is due. A test has the customer asked at once.
    func priceIncreaseScheduled(
        _ increase: PriceIncrease,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        guard subscription.state.isRunning else { return .refused(.ended) }
        let next = subscription.renewalProduct
        guard increase.productID == next.id, increase.price.currency == next.price.currency,
            increase.price.minorUnits > next.price.minorUnits
        else { return .refused(.noIncrease) }
        let known = subscription.priceIncrease
        guard known?.id != increase.id || known?.productID != increase.productID else {
            return .unchanged
        }
        guard !subscription.isHigherPriceInUse else { return .refused(.priceInUse) }
        var increase = increase
        let period = next.terms.period
        increase.notice = prices(for: period).notice(for: period).milliseconds
        var after = subscription
        after.priceIncrease = increase
        after.tryAgain()
        guard increase.status == .pending else {
            after.priceIncrease?.status = .scheduled
            after.priceIncrease?.effectiveAt = prices(for: subscription.period.length)
                .effectiveTime(
                    of: increase,
                    for: subscription,
                    knownAt: time
                )
            return changed(after, .priceIncreaseScheduled)
        }
        guard subscription.state == .active, subscription.isAutoRenewOn else {
            return .refused(.notRenewing)
        }
        after.priceIncrease?.askedAt = time
        return changed(after, .priceIncreaseAsked)
    }

    /// Asks a customer about an increase, or informs of it (rows e29 and e31).
    ///
    /// A question that comes only after the end of the period is too late for the next one. So is a
    /// notice without consent that comes later than the store's own delays explain: it would leave no
    /// time to cancel.
    func priceIncreaseDue(at time: StoreTime, _ subscription: Subscription) -> SubscriptionMove {
        guard var increase = subscription.nextIncrease else { return .stale }
        let next = subscription.renewalProduct
        // This cannot be refused: an action that stays due would be tried for ever.
        guard increase.price.minorUnits > next.price.minorUnits else {
            return withdrawn(subscription)
        }
        guard time < subscription.period.end else { return postponed(subscription) }
        let prices = prices(for: subscription.period.length)
        let needsConsent = prices.needsConsent(to: increase, from: next, of: subscription)
        let delay = policy.scaled(to: subscription.period.length).honouredDelay
        let asking = prices.askingTime(of: increase, in: subscription.period)
        guard needsConsent || time <= asking.advanced(by: delay) else {
            return postponed(subscription)
        }
        increase.status = needsConsent ? .pending : .notified
        increase.askedAt = time
        var after = subscription
        after.priceIncrease = increase
        return changed(after, needsConsent ? .priceIncreaseAsked : .priceIncreaseNotified)
    }

    /// Takes an increase back that was not charged yet (row e33).
    func priceIncreaseWithdrawn(_ subscription: Subscription) -> SubscriptionMove {
        guard subscription.state.isRunning else { return .refused(.ended) }
        guard subscription.priceIncrease != nil else { return .unchanged }
        guard !subscription.isHigherPriceInUse else { return .refused(.priceInUse) }
        return withdrawn(subscription)
    }

    private func withdrawn(_ subscription: Subscription) -> SubscriptionMove {
        var after = subscription
        after.priceIncrease = nil
        after.tryAgain()
        return changed(after, .priceIncreaseWithdrawn)
    }

    /// A customer answers (rows e30 and e32); the first answer counts.
    ///
    /// - Parameters:
    ///   - id: The increase that the customer was asked about; `nil` for the present one.
    ///   - isAgreed: The answer.
    ///   - subscription: The subscription.
    /// - Returns: The change, or why there is none.
    func priceIncreaseAnswered(
        _ id: PriceChangeID?,
        isAgreed: Bool,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        guard subscription.state.isRunning else { return .refused(.ended) }
        guard let increase = subscription.priceIncrease else { return .refused(.notAsked) }
        guard id == nil || id == increase.id else { return .refused(.questionReplaced) }
        let status: PriceIncreaseStatus = isAgreed ? .agreed : .declined
        switch increase.status {
        case status: return .unchanged
        case .agreed, .declined: return .refused(.answeredOtherwise)
        case .scheduled, .notified, .unknown: return .refused(.notAsked)
        case .pending: break
        }
        guard subscription.state == .active else { return .refused(.notAsked) }
        var after = subscription
        after.priceIncrease?.status = status
        if isAgreed { after.tryAgain() }
        return changed(after, isAgreed ? .priceIncreaseAgreed : .priceIncreaseDeclined)
    }

    /// Whether a charge has to wait for the customer's consent (row e19).
    ///
    /// A price of the catalog that is not above the one that the customer was told needs none.
    func needsConsent(
        insteadOf told: Money,
        to quoted: Money?,
        _ subscription: Subscription
    ) -> Bool {
        guard subscription.state == .active, let increase = subscription.nextIncrease, let quoted,
            !increase.status.isAccepted, increase.status != .scheduled
        else { return false }
        return quoted.currency == told.currency && quoted.minorUnits > told.minorUnits
    }

    /// Carries out an action that needs nobody outside.
    func carriedOut(
        _ kind: DueAction.Kind,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        kind == .priceIncrease
            ? priceIncreaseDue(at: time, subscription) : ended(kind, at: time, subscription)
    }

    /// Lets an increase count from the renewal after the next one.
    private func postponed(_ subscription: Subscription) -> SubscriptionMove {
        var after = subscription
        after.priceIncrease?.effectiveAt = subscription.period.end.advanced(by: .milliseconds(1))
        return changed(after, .priceIncreaseScheduled)
    }

    private func prices(for period: SubscriptionPeriod) -> PriceIncreaseRules {
        PriceIncreaseRules(policy: policy.scaled(to: period).prices)
    }
}

extension DueActionRules {
    /// The time to ask a customer about an increase, or to inform of it (rule S121); `nil` if that is
    /// done.
    func priceIncrease(of subscription: Subscription) -> DueAction? {
        guard subscription.isAutoRenewOn, let increase = subscription.nextIncrease,
            increase.status == .scheduled
        else { return nil }
        let prices = PriceIncreaseRules(
            policy: policy.scaled(to: subscription.period.length).prices
        )
        return DueAction(
            kind: .priceIncrease,
            time: prices.askingTime(of: increase, in: subscription.period),
            subscriptionID: subscription.id
        )
    }
}

extension Subscription {
    /// Whether the new price of the increase is being charged, or is owed for an unpaid period (rule
    /// S126).
    ///
    /// Until that is over, the increase is neither replaced nor taken back.
    fileprivate var isHigherPriceInUse: Bool {
        guard let increase = priceIncrease, increase.status.isAccepted else { return false }
        if let charge, charge.product.id == increase.productID,
            charge.product.price.minorUnits > renewalProduct.price.minorUnits
        {
            return true
        }
        return state != .active && nextIncrease != nil
    }

    /// Forgets a question whose answer means nothing while auto-renew is off (rule S125), or while
    /// another product is scheduled (rule S127).
    ///
    /// Who turns auto-renew on again, or stays with the product, is asked again. Who has agreed need
    /// not agree again.
    mutating func forgetQuestion() {
        guard let status = priceIncrease?.status, status == .pending || status == .declined else {
            return
        }
        priceIncrease?.status = .scheduled
        priceIncrease?.askedAt = nil
        tryAgain()
    }

    /// Keeps an increase of the running product when another product is scheduled, or that is taken
    /// back (rule S127).
    ///
    /// Otherwise a customer could lose a higher price by a change and its withdrawal. An increase of a
    /// product that was scheduled before ends: whoever chooses it again pays the catalog's price.
    mutating func keepIncrease() {
        guard priceIncrease?.productID == product.id else {
            priceIncrease = nil
            tryAgain()
            return
        }
        forgetQuestion()
    }

    /// Ends an increase with the period that costs it (rule S121), or for which it means nothing.
    ///
    /// A charge that was begun before the customer was asked leaves the question open.
    mutating func closeIncrease(
        chargedFor period: PaidPeriod,
        before: Subscription
    ) {
        guard let increase = priceIncrease else { return }
        let price = period.product.price
        guard period.product.id == increase.productID, price.currency == increase.price.currency
        else {
            priceIncrease = nil
            return
        }
        let isAnswered =
            before.nextIncrease != nil && increase.askedAt != nil
            && (before.charge?.startedAt ?? period.start) >= (increase.askedAt ?? period.start)
        guard isAnswered || price.minorUnits >= increase.price.minorUnits else { return }
        let isRaised = price.minorUnits > before.renewalProduct.price.minorUnits
        if increase.status == .notified, isRaised { raisedAt = period.start }
        priceIncrease = nil
    }

    /// Lets a charge that waited for consent be made at once.
    mutating func tryAgain() {
        guard renewalProblem == .noConsent else { return }
        renewalProblem = nil
        lastTry = nil
    }
}

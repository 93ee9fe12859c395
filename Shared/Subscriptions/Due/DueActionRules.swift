public import EventTypes

/// The rules for the next due action of a subscription.
///
/// Pure. A subscription that runs has exactly one next action, and one that has ended has none. So
/// one row of a table can hold it.
public struct DueActionRules: Sendable {
    /// The decisions of the store.
    public let policy: SubscriptionPolicy

    /// Makes the rules.
    public init(policy: SubscriptionPolicy) { self.policy = policy }

    /// The next action of a subscription; `nil` if nothing has to be done.
    ///
    /// Of several, the earliest comes first, even when all of them are late (rule S520). Charges
    /// whose time has passed without a try are not made up for: one try counts for all of them.
    public func next(for subscription: Subscription) -> DueAction? {
        switch subscription.state {
        case .active:
            [
                earliest(
                    subscription,
                    charge: .renewalCharge,
                    at: renewalChargeTime(of: subscription),
                    end: .periodEnd,
                    at: subscription.period.end
                ), priceIncrease(of: subscription),
            ].compactMap(\.self).min()
        case .inGracePeriod:
            earliest(
                subscription,
                charge: .retryCharge,
                at: retryChargeTime(of: subscription),
                end: .graceEnd,
                at: subscription.gracePeriodEnd
            )
        case .inBillingRetryPeriod:
            earliest(
                subscription,
                charge: .retryCharge,
                at: retryChargeTime(of: subscription),
                end: .retryEnd,
                at: subscription.billingRetryEnd
            )
        case .expired, .revoked, .unknown: nil
        }
    }

    /// Whether actions that were written down are what has to be done next for a subscription.
    ///
    /// An action stays as it was written until its subscription changes. A version with finer steps has written
    /// charges that are due later in the step of today (rule S510).
    ///
    /// - Parameters:
    ///   - actions: The actions.
    ///   - subscription: The subscription.
    /// - Returns: Whether they are.
    func areNext(_ actions: [DueAction], for subscription: Subscription) -> Bool {
        let next = next(for: subscription)
        guard let action = actions.first, actions.count == 1, let next,
            action.kind == .renewalCharge, next.kind == .renewalCharge,
            action.subscriptionID == next.subscriptionID, action.time > next.time
        else { return actions == [next].compactMap(\.self) }
        let step = policy.scaled(to: subscription.period.length).step
        return action.time.duration(since: next.time) < step
    }

    /// The earliest time at which the period after the newest one may have been charged (rule S524).
    ///
    /// It stays the same if the newest period is extended: the charge may have been before. An earlier version
    /// of the store may have charged in another step of the spread, so it is that of the first step.
    public func firstChargeTime(of subscription: Subscription) -> StoreTime {
        let end = subscription.period.extendedFrom ?? subscription.period.end
        return renewalChargeTimes(of: subscription, before: end, isSpread: false).reduce(end, min)
    }

    /// The state that follows from the dates alone, if the due action has not been carried out yet
    /// (rule S205).
    public func state(of subscription: Subscription, at time: StoreTime) -> SubscriptionState {
        func isBefore(_ end: StoreTime?) -> Bool {
            end.map { time < ending(at: $0, of: subscription) } ?? false
        }
        let retryState: SubscriptionState =
            isBefore(subscription.billingRetryEnd) ? .inBillingRetryPeriod : .expired
        switch subscription.state {
        case .active:
            if isBefore(subscription.period.end) { return .active }
            let lacksConsent =
                subscription.renewalProblem == .noConsent && subscription.charge == nil
            return subscription.isAutoRenewOn && !lacksConsent ? .inBillingRetryPeriod : .expired
        case .inGracePeriod:
            return isBefore(subscription.gracePeriodEnd) ? .inGracePeriod : retryState
        case .inBillingRetryPeriod: return retryState
        case .expired, .revoked, .unknown: return subscription.state
        }
    }

    /// Whether another charge for what a subscription owes could be made if the one under way failed.
    ///
    /// A charge whose outcome is not known delays an end (rule S505). Without it the subscription may be over.
    ///
    /// - Parameters:
    ///   - subscription: The subscription as it is stored.
    ///   - time: The time of the other charge.
    /// - Returns: Whether it could.
    public func isOwed(withoutChargeOf subscription: Subscription, at time: StoreTime) -> Bool {
        guard subscription.state != .active else { return false }
        var failed = subscription
        failed.charge = nil
        switch state(of: failed, at: time) {
        case .inGracePeriod, .inBillingRetryPeriod: return true
        case .active, .expired, .revoked, .unknown: return false
        }
    }

    /// The subscription as its dates alone tell it, if the due action has not been carried out yet
    /// (rule S205).
    ///
    /// Whoever is told that a period is over is also told why.
    ///
    /// - Parameters:
    ///   - subscription: The subscription as it is stored.
    ///   - time: The present.
    /// - Returns: The subscription with the state and the expiration intent of that time.
    public func present(_ subscription: Subscription, at time: StoreTime) -> Subscription {
        var present = subscription
        present.state = state(of: subscription, at: time)
        guard subscription.state == .active else { return present }
        switch present.state {
        case .inBillingRetryPeriod: present.expirationIntent = .billingError
        case .expired:
            present.expirationIntent =
                subscription.isAutoRenewOn ? .didNotConsentToPriceIncrease : .autoRenewDisabled
        case .active, .inGracePeriod, .revoked, .unknown: break
        }
        return present
    }

    private func earliest(
        _ subscription: Subscription,
        charge: DueAction.Kind,
        at chargeTime: StoreTime?,
        end: DueAction.Kind,
        at endTime: StoreTime?
    ) -> DueAction? {
        let charge = chargeTime.map {
            DueAction(kind: charge, time: $0, subscriptionID: subscription.id)
        }
        let end = endTime.map {
            DueAction(
                kind: end,
                time: ending(at: $0, of: subscription),
                subscriptionID: subscription.id
            )
        }
        return [charge, end].compactMap(\.self).min()
    }

    /// The time at which an end takes effect: a charge whose outcome is not known delays it for a
    /// while (rule S505).
    private func ending(at time: StoreTime, of subscription: Subscription) -> StoreTime {
        guard let charge = subscription.charge else { return time }
        return max(time, charge.startedAt.advanced(by: policy(for: subscription).outcomeWait))
    }

    /// The time of the next renewal charge: never before the newest period begins, so that nobody
    /// pays two periods in advance.
    private func renewalChargeTime(of subscription: Subscription) -> StoreTime? {
        guard subscription.isAutoRenewOn, subscription.charge == nil else { return nil }
        let times = renewalChargeTimes(of: subscription, before: subscription.period.end)
        return first(times, after: subscription.lastTry)
    }

    /// The times before the end of the newest period at which the next one is charged.
    private func renewalChargeTimes(
        of subscription: Subscription,
        before end: StoreTime,
        isSpread: Bool = true
    ) -> [StoreTime] {
        let period = subscription.period
        // A trial may be much shorter than the periods that follow it.
        let policy = self.policy.scaled(to: period.length)
        let delay = isSpread ? policy.delay(of: subscription.id) : .zero
        return policy.chargesBeforeEnd.enumerated().map { index, duration in
            max(period.start, end.advanced(by: (index == 0 ? delay : .zero) - duration))
        }
    }

    private func retryChargeTime(of subscription: Subscription) -> StoreTime? {
        guard subscription.charge == nil else { return nil }
        let end = subscription.period.end
        return first(
            policy(for: subscription).chargesAfterEnd.map { end.advanced(by: $0) },
            after: subscription.lastTry
        )
    }

    private func policy(for subscription: Subscription) -> SubscriptionPolicy {
        policy.scaled(to: subscription.product.terms.period)
    }

    private func first(_ times: [StoreTime], after lastTry: StoreTime?) -> StoreTime? {
        times.first { time in lastTry.map { $0 < time } ?? true }
    }
}

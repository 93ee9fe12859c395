public import EventTypes

/// Checks that subscriptions are what their histories say (docs/subscriptions.md, invariants).
///
/// Pure: it compares its arguments. The caller reads the histories from the books of a store.
public struct SubscriptionAudit: Sendable {
    /// The decisions of the store.
    public let policy: SubscriptionPolicy
    /// The longest grace period that was ever set.
    public let graceMax: Duration

    /// Makes an audit.
    public init(policy: SubscriptionPolicy, graceMax: Duration? = nil) {
        self.policy = policy
        self.graceMax = graceMax ?? policy.grace ?? .zero
    }

    /// Checks several subscriptions, and that no account has two running ones in a group.
    public func findings(
        in histories: [SubscriptionHistory],
        at time: StoreTime
    ) -> [AuditFinding] {
        struct Place: Hashable {
            let accountID: AccountID
            let bundleID: BundleID
            let groupID: SubscriptionGroupID
        }
        var found = histories.flatMap { findings(in: $0, at: time) }
        var running: [Place: TransactionID] = [:]
        for subscription in histories.map(\.subscription) where subscription.state.isRunning {
            let place = Place(
                accountID: subscription.accountID,
                bundleID: subscription.bundleID,
                groupID: subscription.groupID
            )
            if let other = running.updateValue(subscription.id, forKey: place) {
                found.append(
                    AuditFinding(
                        invariant: .oneRunning,
                        subscriptionID: subscription.id,
                        problem: "\(other) runs in the same group"
                    )
                )
            }
        }
        return found
    }

    /// Checks one subscription.
    public func findings(in history: SubscriptionHistory, at time: StoreTime) -> [AuditFinding] {
        var findings = Findings(of: history.subscription.id)
        checkChanges(history, &findings)
        checkPeriods(history, &findings)
        checkExtensions(history, &findings)
        checkMoney(history, &findings)
        checkOffers(history, &findings)
        checkPresent(history, at: time, &findings)
        checkLimits(history, &findings)
        return findings.all
    }

    /// The findings of one subscription.
    struct Findings {
        let subscriptionID: TransactionID
        var all: [AuditFinding] = []

        init(of subscriptionID: TransactionID) { self.subscriptionID = subscriptionID }

        mutating func check(
            _ invariant: SubscriptionInvariant,
            _ holds: Bool,
            _ problem: @autoclosure () -> String,
            refund: AuditFinding.PeriodRefund? = nil
        ) {
            guard !holds else { return }
            all.append(
                AuditFinding(
                    invariant: invariant,
                    subscriptionID: subscriptionID,
                    problem: problem(),
                    refund: refund
                )
            )
        }
    }

    // MARK: - Present

    private func checkPresent(
        _ history: SubscriptionHistory,
        at time: StoreTime,
        _ findings: inout Findings
    ) {
        let subscription = history.subscription
        let rules = DueActionRules(policy: policy)
        let next = rules.next(for: subscription)
        // What an earlier version has written stays until the subscription changes.
        let earlier = DueActionRules(policy: policy.placingEach)
        findings.check(
            .oneDueAction,
            [rules, earlier].contains { $0.areNext(history.actions, for: subscription) },
            "the due actions are \(history.actions), not \(String(describing: next))"
        )
        findings.check(
            .oneDueAction,
            history.openCharges == [subscription.charge?.key].compactMap(\.self),
            "the open charges are \(history.openCharges)"
        )
        findings.check(
            .viewsAgree,
            history.entitlementEnd == subscription.entitlementEnd,
            "the entitlement ends at \(String(describing: history.entitlementEnd))"
        )
        // Overdue actions will change the state. Until then the dates decide, and not the state.
        if next.map({ $0.time > time }) ?? true {
            let state = rules.state(of: subscription, at: time)
            findings.check(
                .stateFollowsFromChanges,
                state == subscription.state,
                "it is \(subscription.state), and \(state) by its dates"
            )
        }
    }

    private func checkLimits(_ history: SubscriptionHistory, _ findings: inout Findings) {
        for change in history.changes {
            let end = change.subscription.period.end
            if let graceEnd = change.subscription.gracePeriodEnd {
                findings.check(
                    .limitsAreKept,
                    graceEnd.duration(since: end) <= graceMax,
                    "grace after \(end) lasts until \(graceEnd)"
                )
            }
            if let retryEnd = change.subscription.billingRetryEnd {
                findings.check(
                    .limitsAreKept,
                    retryEnd.duration(since: end)
                        <= policy.scaled(to: change.subscription.product.terms.period).billingRetry,
                    "billing retry after \(end) lasts until \(retryEnd)"
                )
            }
        }
    }
}

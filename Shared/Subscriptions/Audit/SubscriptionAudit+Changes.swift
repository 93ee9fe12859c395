import EventTypes

extension SubscriptionAudit {
    /// Checks that each change follows from the one before it, and was published once.
    func checkChanges(_ history: SubscriptionHistory, _ findings: inout Findings) {
        let versions = history.changes.map(\.subscription.version)
        findings.check(
            .stateFollowsFromChanges,
            versions == Array(1..<(versions.count + 1)),
            "its versions are \(versions)"
        )
        findings.check(
            .stateFollowsFromChanges,
            history.changes.last.map { Self.told($0.subscription) }
                == Self.told(history.subscription),
            "it is not what its last change says"
        )
        var before: Subscription?
        for change in history.changes {
            check(change, after: before, &findings)
            before = change.subscription
        }
        guard let sent = history.sent else { return }
        let expected = history.changes.flatMap { change in
            change.cause.notifications(of: change.subscription).map {
                SubscriptionHistory.Sent(version: change.subscription.version, notification: $0)
            }
        }
        findings.check(
            .notifiedOnce,
            sent == expected,
            "the notifications are \(sent.map(\.notification.description))"
        )
    }

    private func check(
        _ change: SubscriptionHistory.Change,
        after before: Subscription?,
        _ findings: inout Findings
    ) {
        let after = change.subscription
        let step = Self.step(of: change.cause, after: before?.state)
        findings.check(
            .stateFollowsFromChanges,
            step?.contains(after.state) ?? false,
            "\(change.cause) leads from \(before?.state.rawValue ?? "nothing") to \(after.state)"
        )
        findings.check(
            .stateFollowsFromChanges,
            before.map {
                $0.id == after.id && $0.accountID == after.accountID && $0.groupID == after.groupID
                    && $0.bundleID == after.bundleID && $0.startedAt == after.startedAt
            } ?? true,
            "\(change.cause) changes what never changes"
        )
        findings.check(
            .stateFollowsFromChanges,
            change.newPeriod.map { $0 == after.period } ?? true,
            "\(change.cause) begins a period that is not the newest"
        )
        let isUnpaid =
            after.state == .inGracePeriod || after.state == .inBillingRetryPeriod
        findings.check(
            .stateFollowsFromChanges,
            (after.gracePeriodEnd != nil) == (after.state == .inGracePeriod)
                && (after.billingRetryEnd != nil) == isUnpaid
                && (after.expirationIntent != nil) == (isUnpaid || after.state == .expired)
                && (after.state.isRunning || !after.isAutoRenewOn),
            "after \(change.cause) its dates do not fit \(after.state)"
        )
    }

    /// A subscription without the fields of its next charge, which are not published.
    private static func told(_ subscription: Subscription) -> Subscription {
        var told = subscription
        told.attempts = 0
        told.lastTry = nil
        told.charge = nil
        told.renewalProblem = nil
        return told
    }

    /// The states to which a cause leads from a state; `nil` if it cannot occur in it.
    private static func step(
        of cause: SubscriptionCause,
        after before: SubscriptionState?
    ) -> Set<SubscriptionState>? {
        let running: Set<SubscriptionState> = [.active, .inGracePeriod, .inBillingRetryPeriod]
        let unpaid: Set<SubscriptionState> = [.inGracePeriod, .inBillingRetryPeriod]
        guard let before else { return cause == .purchased ? [.active] : nil }
        func from(
            _ states: Set<SubscriptionState>,
            to after: Set<SubscriptionState>
        ) -> Set<SubscriptionState>? {
            states.contains(before) ? after : nil
        }
        return switch cause {
        case .purchased, .unknown: nil
        case .resubscribed: from([.expired, .revoked], to: [.active])
        case .upgraded: from(running, to: [.active])
        case .productScheduled, .scheduleWithdrawn: from(running, to: [before])
        case .autoRenewTurnedOff, .autoRenewTurnedOn, .renewed, .renewedLate, .nextPeriodRefunded,
            .extended:
            from([.active], to: [.active])
        case .offerRedeemed: from([.active, .inGracePeriod], to: [before])
        case .gracePeriodBegan: from([.active], to: [.inGracePeriod])
        case .billingRetryBegan: from([.active], to: [.inBillingRetryPeriod])
        case .recovered: from(unpaid, to: [.active])
        case .gracePeriodEnded: from([.inGracePeriod], to: [.inBillingRetryPeriod])
        case .billingRetryEnded: from([.inBillingRetryPeriod], to: [.expired])
        case .cancelledUnpaid: from(unpaid, to: [.expired])
        case .expired: from([.active], to: [.expired])
        case .productUnavailable, .ended: from(running, to: [.expired])
        case .priceIncreaseScheduled, .priceIncreaseWithdrawn: from(running, to: [before])
        case .priceIncreaseAsked, .priceIncreaseNotified, .priceIncreaseAgreed,
            .priceIncreaseDeclined:
            from([.active], to: [.active])
        case .priceNotAgreed: from([.active], to: [.expired])
        case .refunded: from([.active], to: [.revoked])
        case .moneyRefunded: [before]
        case .lastPeriodRefunded: from(unpaid.union([.expired]), to: [.expired])
        case .refundReversed: before == .revoked ? [.active, .expired, .revoked] : [before]
        }
    }
}

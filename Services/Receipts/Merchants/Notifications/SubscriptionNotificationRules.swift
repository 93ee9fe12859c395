import EventTypes
import Subscriptions

/// The rules for which notifications a change of a subscription causes (rules S90 and S91 of
/// docs/subscriptions.md).
///
/// Pure. The event of the change says everything; there is no second source (rule S7).
enum SubscriptionNotificationRules {
    /// A notification that a change of a subscription causes.
    struct Planned: Hashable, Sendable {
        let kind: NotificationKind
        /// The transaction that is sent with it.
        let transactionID: TransactionID
        /// The subscription after the change.
        let subscription: Subscription
    }

    /// Returns the notifications of a change, in their order.
    ///
    /// A refund turns auto-renew off, which is reported only if it was on before.
    static func notifications(of change: SubscriptionChanged) -> [Planned] {
        let transactionID = transaction(of: change)
        return change.cause.notifications(of: change.subscription).compactMap { notification in
            guard
                let kind = NotificationKind(
                    type: notification.type,
                    subtype: notification.subtype
                ), kind != .autoRenewDisabled || wasTurnedOff(by: change)
            else { return nil }
            return Planned(
                kind: kind,
                transactionID: transactionID,
                subscription: change.subscription
            )
        }
    }

    /// Returns the transaction that a change is about: the refunded one, that of the period that
    /// began, or else that of the period in force.
    private static func transaction(of change: SubscriptionChanged) -> TransactionID {
        // The extended period may begin in the future (rule S214).
        if change.cause == .extended { return change.subscription.period.transactionID }
        return change.refundedTransactionID ?? change.transactionID
            ?? change.subscription.runningPeriod(at: change.changedAt).transactionID
    }

    /// Whether auto-renew was on before the change, which leaves it off.
    ///
    /// A reason that was there before a refund stays.
    private static func wasTurnedOff(by change: SubscriptionChanged) -> Bool {
        switch change.cause {
        case .refunded, .nextPeriodRefunded:
            change.subscription.autoRenewOffReason == .refund
        default: true
        }
    }
}

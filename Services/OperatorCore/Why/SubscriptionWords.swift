package import EventTypes

/// The life of a subscription in plain words.
///
/// Pure.
package struct SubscriptionWords {
    /// The tries to renew that failed, oldest first.
    var failures: [PaymentsChapter.FailedTry] = []

    /// A change in one line.
    ///
    /// - Parameter change: The event of the change.
    /// - Returns: What happened, and until when it gives service.
    func text(of change: SubscriptionChanged) -> String {
        words(for: change) + (change.act.map { ", decided \($0)" } ?? "")
    }

    private func words(for change: SubscriptionChanged) -> String {
        let subscription = change.subscription
        let period = subscription.period
        let name = "\(subscription.product.id)"
        let paid =
            "\(period.price)\(Self.offerText(period.offer)), from \(Self.moment(period.start)) "
            + "until \(Self.moment(period.end))"
        let reason = self.reason(before: change.changedAt).map { " (\($0))" } ?? ""
        let isWithout = "no service"
        return switch change.cause {
        case .purchased: "began with \(name): \(paid)"
        case .resubscribed:
            "began again with \(name) by transaction \(period.transactionID): \(paid)"
        case .upgraded:
            "upgraded to \(name) by transaction \(period.transactionID): \(paid)"
                + Self.returned(by: change)
        case .productScheduled:
            "changes to \(Self.next(subscription)) with the next renewal, at \(Self.moment(period.end))"
        case .scheduleWithdrawn: "stays with \(name)"
        case .offerRedeemed:
            "redeemed \(subscription.pendingOffer?.id.map { "the offer \($0)" } ?? "an offer"): "
                + "renews at \(Self.moment(period.end)) with \(Self.next(subscription))"
        case .autoRenewTurnedOff:
            "cancelled: runs until \(Self.moment(period.end)) and does not renew"
        case .autoRenewTurnedOn:
            "resumed: renews at \(Self.moment(period.end)) with \(Self.next(subscription))"
        case .renewed: "renewed by transaction \(period.transactionID) with \(name): \(paid)"
        case .renewedLate:
            "renewed late, after an outage, by transaction \(period.transactionID): \(paid)"
        case .gracePeriodBegan:
            "the period ended unpaid\(reason): grace until "
                + "\(Self.moment(subscription.gracePeriodEnd)), charged again until "
                + Self.moment(subscription.billingRetryEnd)
        case .billingRetryBegan:
            "the period ended unpaid\(reason): \(isWithout), charged again until "
                + Self.moment(subscription.billingRetryEnd)
        case .recovered:
            "recovered by transaction \(period.transactionID) with \(name): \(paid)"
        case .gracePeriodEnded:
            "grace ended\(reason): \(isWithout), charged again until "
                + Self.moment(subscription.billingRetryEnd)
        case .billingRetryEnded: "lapsed: never paid\(reason), and the store stopped charging"
        case .cancelledUnpaid: "cancelled while it was not paid: lapsed"
        case .expired: "lapsed: its period ended, and it was cancelled"
        case .productUnavailable: "lapsed: \(name) is not renewed any more"
        case .ended: "ended by the store"
        case .priceIncreaseScheduled, .priceIncreaseAsked, .priceIncreaseNotified,
            .priceIncreaseAgreed, .priceIncreaseDeclined, .priceIncreaseWithdrawn, .priceNotAgreed:
            Self.words(forPriceIn: change)
        case .refunded:
            "the period of transaction \(period.transactionID) was refunded: \(isWithout), "
                + "does not renew" + Self.returned(by: change)
        case .nextPeriodRefunded:
            "the period that was paid in advance was refunded: runs until "
                + "\(Self.moment(period.end)) and does not renew"
        case .moneyRefunded: "money of a period was refunded: the service stays as it is"
        case .lastPeriodRefunded: "its last period was refunded: ended, and not charged again"
        case .refundReversed:
            "a refund was reversed: "
                + (subscription.state == .active
                    ? "runs again until \(Self.moment(period.end))" : "the service stays as it is")
        case .extended:
            "extended by \(subscription.extensions?.last?.days ?? 0) days: runs until "
                + Self.moment(period.end)
        case .unknown(let cause): "changed: \(cause)"
        }
    }

    /// A try that failed, in one line.
    static func text(of failure: PaymentsChapter.FailedTry) -> String {
        "try \(failure.number) to charge \(failure.price) for the next period failed: "
            + "\(failure.reason) (transaction \(failure.id))"
    }

    /// The state of a subscription, and what comes next.
    package static func present(_ subscription: Subscription) -> String {
        let name = "Subscription \(subscription.id) of \(subscription.product.id)"
        let end = moment(subscription.period.end)
        switch subscription.state {
        case .active:
            guard let next = subscription.nextProduct, let price = subscription.nextPrice else {
                let reason = subscription.autoRenewOffReason?.rawValue ?? "ended"
                return "\(name) runs until \(end) and does not renew (\(reason))."
            }
            return "\(name) runs until \(end), and renews then with \(next.id) for \(price)."
        case .inGracePeriod:
            return """
                \(name) is not paid. It gives service until \(moment(subscription.gracePeriodEnd)), and \
                is charged again until \(moment(subscription.billingRetryEnd)).
                """
        case .inBillingRetryPeriod:
            return """
                \(name) is not paid and gives no service. It is charged again until \
                \(moment(subscription.billingRetryEnd)).
                """
        case .expired:
            return "\(name) has lapsed (\(subscription.autoRenewOffReason?.rawValue ?? "ended"))."
        case .revoked: return "\(name) was taken away by a refund."
        case .unknown(let state): return "\(name) is \(state)."
        }
    }

    private func reason(before time: StoreTime) -> String? {
        failures.last { $0.time <= time }?.reason
    }

    static func next(_ subscription: Subscription) -> String {
        guard let product = subscription.nextProduct, let price = subscription.nextPrice else {
            return "nothing"
        }
        return "\(product.id) for \(price)"
    }

    /// The refunds of a change, by what it has booked for the periods that it ended.
    private static func returned(by change: SubscriptionChanged) -> String {
        let parts = (change.changedPeriods ?? []).filter { !$0.refunded.isZero }.map {
            "\($0.refunded) of transaction \($0.transactionID)"
        }
        return parts.isEmpty ? "" : "; gives back \(parts.joined(separator: " and "))"
    }

    /// A time to the second, in UTC.
    static func moment(_ time: StoreTime?) -> String {
        guard let time else { return "an unknown time" }
        return String(time.description.prefix(19)).replacing("T", with: " ")
    }
}

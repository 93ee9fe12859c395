import EventTypes
import Subscriptions
import Testing

@testable import Receipts

/// Which notifications each change of a subscription causes (the table in docs/subscriptions.md).
@Suite struct SubscriptionNotificationRulesTests {
    /// The notifications of each cause.
    private static let table: [SubscriptionCause: [String]] = [
        .purchased: ["SUBSCRIBED INITIAL_BUY"],
        .resubscribed: ["SUBSCRIBED RESUBSCRIBE"],
        .upgraded: ["DID_CHANGE_RENEWAL_PREF UPGRADE"],
        .productScheduled: ["DID_CHANGE_RENEWAL_PREF DOWNGRADE"],
        .scheduleWithdrawn: ["DID_CHANGE_RENEWAL_PREF"],
        .autoRenewTurnedOff: ["DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED"],
        .autoRenewTurnedOn: ["DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED"],
        .offerRedeemed: ["OFFER_REDEEMED"],
        .renewed: ["DID_RENEW"],
        .renewedLate: ["DID_RENEW"],
        .gracePeriodBegan: ["DID_FAIL_TO_RENEW GRACE_PERIOD"],
        .billingRetryBegan: ["DID_FAIL_TO_RENEW"],
        .recovered: ["DID_RENEW BILLING_RECOVERY"],
        .gracePeriodEnded: ["GRACE_PERIOD_EXPIRED"],
        .billingRetryEnded: ["EXPIRED BILLING_RETRY"],
        .cancelledUnpaid: [
            "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "EXPIRED VOLUNTARY",
        ],
        .expired: ["EXPIRED VOLUNTARY"],
        .productUnavailable: ["EXPIRED PRODUCT_NOT_FOR_SALE"],
        .ended: ["EXPIRED"],
        .priceIncreaseScheduled: [],
        .priceIncreaseAsked: ["PRICE_INCREASE PENDING"],
        .priceIncreaseNotified: ["PRICE_INCREASE ACCEPTED"],
        .priceIncreaseAgreed: ["PRICE_INCREASE ACCEPTED"],
        .priceIncreaseDeclined: [],
        .priceIncreaseWithdrawn: [],
        .priceNotAgreed: ["EXPIRED PRICE_INCREASE"],
        .refunded: ["DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "REFUND"],
        .nextPeriodRefunded: ["DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "REFUND"],
        .moneyRefunded: ["REFUND"],
        .lastPeriodRefunded: ["REFUND"],
        .refundReversed: ["REFUND_REVERSED"],
        .extended: ["RENEWAL_EXTENDED"],
    ]

    private static let states: [SubscriptionState] = [
        .active, .inGracePeriod, .inBillingRetryPeriod, .expired, .revoked,
    ]

    private static func notifications(
        of cause: SubscriptionCause,
        in state: SubscriptionState = .active,
        offSince reason: AutoRenewOffReason? = .refund
    ) -> [SubscriptionNotificationRules.Planned] {
        var subscription = ClubSubscription.begun
        subscription.state = state
        subscription.autoRenewOffReason = reason
        return SubscriptionNotificationRules.notifications(
            of: ClubSubscription.change(subscription, cause)
        )
    }

    @Test func eachCauseHasItsNotificationsInEachState() throws {
        #expect(Set(Self.table.keys) == Set(SubscriptionCause.all))
        for (cause, expected) in Self.table {
            for state in Self.states {
                let planned = Self.notifications(of: cause, in: state)
                #expect(planned.map(\.kind.description) == expected, "\(cause) \(state)")
                #expect(planned.allSatisfy { $0.subscription.state == state })
                // Otherwise one of them would be taken for a repetition of the other.
                #expect(Set(planned.map(\.kind.type)).count == planned.count)
            }
        }
    }

    @Test func aCauseThatIsNotKnownIsNotReported() {
        #expect(Self.notifications(of: .unknown("moved")).isEmpty)
    }

    @Test func autoRenewThatWasOffIsNotReportedAsTurnedOff() {
        for cause in [SubscriptionCause.refunded, .nextPeriodRefunded] {
            let planned = Self.notifications(of: cause, in: .revoked, offSince: .customer)
            #expect(planned.map(\.kind) == [.refund])
        }
    }

    @Test func eachIsSentWithTheTransactionItIsAbout() {
        typealias Club = ClubSubscription
        func transactions(_ change: SubscriptionChanged) -> Set<TransactionID> {
            Set(SubscriptionNotificationRules.notifications(of: change).map(\.transactionID))
        }
        let renewed = Club.change(Club.renewed, .renewed, making: Club.second)
        #expect(transactions(renewed) == [Club.second])
        // The next period is paid and has not begun.
        #expect(transactions(Club.change(Club.renewed, .autoRenewTurnedOff)) == [Club.first])
        var later = Club.change(Club.renewed, .autoRenewTurnedOff)
        later.changedAt = Club.renewed.period.start
        #expect(transactions(later) == [Club.second])
        let old = Club.change(Club.renewed, .moneyRefunded, refunding: Club.first)
        #expect(transactions(old) == [Club.first])
    }
}

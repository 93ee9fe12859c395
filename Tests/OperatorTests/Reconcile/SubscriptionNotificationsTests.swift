import EventTypes
import Subscriptions
import Testing

@testable import Operator
@testable import OperatorCore

/// The notifications of a subscription, as its changes are compared with them.
@Suite struct SubscriptionNotificationsTests {
    private static let start = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
    private static let end = start.advanced(by: .seconds(30 * 86_400))
    /// A time before all changes.
    private static let earlier = start.advanced(by: .seconds(-3600))
    private static let begun = sent(1, "SUBSCRIBED", "INITIAL_BUY")
    private static let renewed = sent(2, "DID_RENEW")

    private static func sent(
        _ version: Int,
        _ type: String,
        _ subtype: String? = nil
    ) -> SubscriptionHistory.Sent {
        SubscriptionHistory.Sent(
            version: version,
            notification: SubscriptionNotification(type, subtype)
        )
    }

    private static func subscription(
        _ version: Int,
        isOffBecause reason: AutoRenewOffReason? = nil
    ) -> Subscription {
        var subscription = Subscription.club(TransactionID(number: 7), from: start, to: end)
        subscription.version = version
        subscription.autoRenewOffReason = reason
        return subscription
    }

    /// The notifications of a subscription that began, and a month later changed once more.
    ///
    /// - Parameters:
    ///   - stored: The notifications in `receipts`.
    ///   - time: The time after which they are complete; `nil` if nobody is notified.
    ///   - known: The version that `receipts` has; `nil` for none.
    ///   - cause: The cause of the second change.
    ///   - reason: The reason why the subscription does not renew after it.
    /// - Returns: The notifications that are compared.
    private static func compared(
        _ stored: [SubscriptionHistory.Sent],
        completeSince time: StoreTime?,
        known: Int? = 2,
        _ cause: SubscriptionCause = .renewed,
        isOffBecause reason: AutoRenewOffReason? = nil
    ) -> [SubscriptionHistory.Sent]? {
        let changed = subscription(2, isOffBecause: reason)
        var records = SubscriptionRecords(subscription: changed, isInItsPlace: true, action: nil)
        records.events = [
            SubscriptionChanged(
                subscription: subscription(1),
                cause: .purchased,
                changedAt: start,
                environment: "Sandbox"
            ),
            SubscriptionChanged(
                subscription: changed,
                cause: cause,
                changedAt: end,
                environment: "Sandbox"
            ),
        ]
        if let known {
            records.views[.receipts] = SubscriptionRecords.View(subscription: subscription(known))
        }
        records.notifications = SubscriptionRecords.Notifications(
            stored: stored,
            completeSince: time
        )
        return records.sent
    }

    @Test func aChangeThatNobodyWasToldOfIsMissing() {
        let whole = Self.compared([Self.begun, Self.renewed], completeSince: Self.earlier)
        #expect(whole == [Self.begun, Self.renewed])
        #expect(Self.compared([Self.begun], completeSince: Self.earlier) == [Self.begun])
        #expect(Self.compared([Self.renewed], completeSince: Self.earlier) == [Self.renewed])
    }

    @Test func whatNobodyHadToBeToldCountsAsTold() {
        let whole = [Self.begun, Self.renewed]
        #expect(Self.compared([], completeSince: nil) == whole)
        #expect(Self.compared([Self.renewed], completeSince: Self.start) == whole)
        // The change was on its way when the server was named.
        let justBefore = Self.end.advanced(by: .seconds(-30))
        #expect(Self.compared([], completeSince: justBefore) == whole)
        // receipts does not have the second version yet.
        #expect(Self.compared([Self.begun], completeSince: Self.earlier, known: 1) == whole)
        #expect(Self.compared([], completeSince: Self.earlier, known: nil) == nil)
    }

    @Test func aNotificationWithoutItsChangeIsExtra() {
        let expired = Self.sent(2, "EXPIRED")
        #expect(Self.compared([expired], completeSince: nil) == [Self.begun, expired])
        let before = Self.sent(0, "DID_RENEW")
        let later = Self.sent(3, "DID_RENEW")
        // A newer version came after the subscription was read.
        let found = Self.compared([before, Self.begun, Self.renewed, later], completeSince: nil)
        #expect(found == [Self.begun, Self.renewed, before])
    }

    @Test func aRefundTellsOfAutoRenewOnlyIfItTurnsItOff() {
        let off = Self.sent(2, "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED")
        let refund = Self.sent(2, "REFUND")
        func compared(isOffBecause reason: AutoRenewOffReason) -> [SubscriptionHistory.Sent]? {
            Self.compared(
                [Self.begun, refund],
                completeSince: Self.earlier,
                .refunded,
                isOffBecause: reason
            )
        }
        #expect(compared(isOffBecause: .customer) == [Self.begun, off, refund])
        #expect(compared(isOffBecause: .refund) == [Self.begun, refund])
    }
}

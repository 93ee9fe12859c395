import EventTypes
import Subscriptions

extension SubscriptionRecords {
    /// The notifications about a subscription that `receipts` has stored.
    struct Notifications: Sendable {
        /// The notifications of its changes, by their versions.
        var stored: [SubscriptionHistory.Sent] = []
        /// The time after which every change has its notifications; `nil` if the merchant's server is not
        /// notified.
        var completeSince: StoreTime?
    }

    /// The margin for changes that were on their way when the merchant's server was named.
    private static let margin = Duration.seconds(60)

    /// The notifications as the audit compares them (invariant 9); `nil` if they are not compared.
    ///
    /// A change that nobody had to be told of counts as told. `receipts` stores the notifications of
    /// a version together with it, so a version that it does not have yet counts as well: the
    /// comparison of the copies finds that.
    var sent: [SubscriptionHistory.Sent]? {
        guard let notifications, let known = views[.receipts]?.subscription?.version else {
            return nil
        }
        var stored = Dictionary(grouping: notifications.stored, by: \.version)
        var sent: [SubscriptionHistory.Sent] = []
        for event in events {
            let version = event.subscription.version
            let found = stored.removeValue(forKey: version) ?? []
            let expected = event.cause.notifications(of: event.subscription)
            let isRequired =
                version <= known
                && notifications.completeSince.map {
                    event.changedAt > $0.advanced(by: Self.margin)
                } ?? false
            let isMissing = expected.contains { notification in
                isRequired && !found.contains { $0.notification == notification }
                    && !Self.isLeftOut(notification, of: event)
            }
            let isExtra = found.contains { !expected.contains($0.notification) }
            sent +=
                isMissing || isExtra
                ? found
                : expected.map { SubscriptionHistory.Sent(version: version, notification: $0) }
        }
        // The books of receipts may be newer than those of payments that were read.
        let rest = stored.filter { $0.key <= subscription.version }.sorted { $0.key < $1.key }
        return sent + rest.flatMap(\.value)
    }

    /// Whether nobody is told that a refund turned auto-renew off, because it was off already.
    private static func isLeftOut(
        _ notification: SubscriptionNotification,
        of event: SubscriptionChanged
    ) -> Bool {
        let turnedOff = SubscriptionNotification("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED")
        return notification == turnedOff
            && (event.cause == .refunded || event.cause == .nextPeriodRefunded)
            && event.subscription.autoRenewOffReason != .refund
    }
}

import EventTypes
import Subscriptions

/// The rules for which notifications are sent, and when a try is repeated.
///
/// Pure.
enum NotificationRules {
    /// The waits after the first, second, … failed try, in a production store.
    static let pauses: [Duration] = [1, 12, 24, 48, 72].map { .seconds($0 * 3600) }

    /// Returns the time of the next try, or `nil` after the last one.
    ///
    /// In the sandbox there is one try only (spec section 2.2).
    static func nextAttempt(
        after attempt: Int,
        failedAt time: MachineTime,
        in environment: StoreEnvironment
    ) -> MachineTime? {
        guard environment == .production, pauses.indices.contains(attempt - 1) else { return nil }
        return time.advanced(by: pauses[attempt - 1])
    }

    /// A notification that a signed transaction causes.
    struct Planned: Hashable, Sendable {
        let kind: NotificationKind
        /// The number of the refund; 0 for a notification that a transaction causes only once.
        let occurrence: Int32
        let signed: SignedTransaction
    }

    /// Returns the notifications that signed transactions cause.
    ///
    /// A purchase is reported once, when its receipt is issued. Each refund and each reversal is
    /// reported once, when a receipt first contains it. Copies are not charges, so neither they nor
    /// their refunds are reported. What happens to a subscription is reported by its own changes:
    /// ``SubscriptionNotificationRules``. A period that a family shares has none of these, so what it
    /// follows and its end are reported here (rows e43 to e45 of docs/subscriptions.md).
    static func notifications(
        of signed: [SignedTransaction],
        _ saved: SavedReceipts
    ) -> [Planned] {
        signed.flatMap { signed -> [Planned] in
            let transaction = signed.transaction
            let isPeriod = transaction.productType == .autoRenewableSubscription
            guard !transaction.reason.isCopy, !isPeriod || transaction.reason == .familyShared
            else { return [] }
            let isIssued = saved.issued.contains(transaction.id)
            guard
                let before = isIssued ? RefundNumbers() : saved.replaced[transaction.id]
            else { return [] }
            var planned: [Planned] = []
            if isIssued, transaction.state == .purchased, !isPeriod {
                planned.append(Planned(kind: .oneTimeCharge, occurrence: 0, signed: signed))
            }
            planned += shared(signed, isIssued: isIssued)
            let refunds = RefundNumbers(of: transaction)
            // What a family shared is not refunded to those who have it: it is revoked.
            let refund: NotificationKind =
                transaction.reason == .familyShared ? .revoke : .refund
            planned += refunds.refunds(since: before).map {
                Planned(kind: refund, occurrence: $0, signed: signed)
            }
            planned += refunds.reversals(since: before).map {
                Planned(kind: .refundReversed, occurrence: $0, signed: signed)
            }
            return planned
        }
    }

    /// Returns the notifications of a period that a family shares: that it began, and the change that it
    /// has followed.
    ///
    /// Auto-renew is the buyer's own matter, so it is not reported for the members.
    private static func shared(_ signed: SignedTransaction, isIssued: Bool) -> [Planned] {
        let transaction = signed.transaction
        guard transaction.reason == .familyShared, let shared = transaction.subscription?.shared
        else { return [] }
        // What is taken away has followed nothing since its receipt was signed before.
        let followed = transaction.revokedAt == nil ? shared.followed : nil
        let causes: [SubscriptionCause?] = [isIssued ? shared.began : nil, followed]
        return causes.flatMap { $0?.notifications ?? [] }
            .compactMap { NotificationKind(type: $0.type, subtype: $0.subtype) }
            .filter { $0 != .autoRenewDisabled }
            .map { Planned(kind: $0, occurrence: Int32(transaction.version), signed: signed) }
    }
}

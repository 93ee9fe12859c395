import EventTypes

/// The rules for which notifications are owed, and when a try is repeated.
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
        failedAt time: Timestamp,
        in environment: StoreEnvironment
    ) -> Timestamp? {
        guard environment == .production, pauses.indices.contains(attempt - 1) else { return nil }
        return time.advanced(by: pauses[attempt - 1])
    }

    /// Returns the notifications that signed transactions cause.
    ///
    /// A purchase is reported once, when its receipt is issued. Restored copies, and purchases of
    /// something already owned, are not charges, so neither they nor their refunds are reported. A
    /// refund is reported when its receipt becomes revoked.
    static func owed(
        by signed: [SignedTransaction],
        _ saved: SavedReceipts
    ) -> [(kind: NotificationKind, signed: SignedTransaction)] {
        signed.flatMap { signed in
            let transaction = signed.transaction
            var owed: [(kind: NotificationKind, signed: SignedTransaction)] = []
            if saved.issued.contains(transaction.id), transaction.id == transaction.originalID,
                transaction.state == .purchased,
                transaction.productType != .autoRenewableSubscription
            {
                owed.append((.oneTimeCharge, signed))
            }
            if saved.revoked.contains(transaction.id), transaction.id == transaction.originalID {
                owed.append((.refund, signed))
            }
            return owed
        }
    }
}

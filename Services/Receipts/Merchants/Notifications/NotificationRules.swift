import EventTypes

/// What is owed to the servers of merchants, and when a try is made again.
///
/// Pure.
enum NotificationRules {
    /// The waits after the first, second, … try that failed, in a store that takes money.
    static let pauses: [Duration] = [1, 12, 24, 48, 72].map { .seconds($0 * 3600) }

    /// When the next try is due; `nil` if that was the last one.
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

    /// What signed transactions give reason to tell.
    ///
    /// A purchase is told of once, when its receipt is issued; what is restored, or owned already and
    /// had again for nothing, is no charge, and giving it back takes nothing away. A refund is told of
    /// when its receipt becomes a revoked one.
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

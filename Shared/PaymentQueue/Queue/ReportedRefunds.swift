import EventTypes

/// The refunds that observers have been known about.
///
/// A transaction may be refunded several times, in part or in full, and a refund may be reversed. A
/// period that a family shares follows the buyer's subscription. Each of these is reported once. It does
/// no I/O.
struct ReportedRefunds {
    /// The news about the refunds of one transaction.
    enum News {
        /// There is a refund or a reversal, and the buyer still has the product, or has it again. Or a
        /// shared period has followed.
        case changed
        /// The product was taken away from the buyer.
        case revoked
    }

    private struct Refunds: Hashable {
        var refunds: [Refund] = []
        var revokedAt: StoreTime?
        /// The standing and the end of a shared period, once it has followed anything.
        var shared: TransactionPeriod.Shared?
        var end: StoreTime?
    }

    private var known: [TransactionID: (version: Int, refunds: Refunds)] = [:]

    /// Records the refunds of a transaction, and returns the news in them.
    ///
    /// Refunds of an older version than the last one are not reported.
    mutating func take(_ transaction: EventTypes.Transaction) -> News? {
        let before = known[transaction.id]
        guard transaction.version >= before?.version ?? 0 else { return nil }
        let period = transaction.subscription
        let hasFollowed = period?.shared?.followed != nil
        let refunds = Refunds(
            refunds: transaction.refunds ?? [],
            revokedAt: transaction.revokedAt,
            shared: hasFollowed ? period?.shared : nil,
            end: hasFollowed ? period?.end : nil
        )
        guard refunds != before?.refunds ?? Refunds() else { return nil }
        known[transaction.id] = (transaction.version, refunds)
        let isTakenAway =
            refunds.revokedAt != nil && refunds.revokedAt != before?.refunds.revokedAt
        return isTakenAway ? .revoked : .changed
    }

    /// Accepts older versions again, because the store may have lost data.
    mutating func goBack() {
        for id in known.keys { known[id]?.version = 0 }
    }
}

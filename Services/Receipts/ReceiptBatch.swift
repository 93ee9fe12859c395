import EventTypes
import Messaging

/// What a batch of events comes to: each transaction at its newest version, each finish once.
///
/// Pure. A purchase and its refund in one batch are one receipt, already revoked; which of the two
/// came first does not matter, because the higher version wins (trap 5).
struct ReceiptBatch: Sendable {
    /// A paid transaction to sign.
    struct Entry: Sendable {
        /// The transaction at its newest version.
        var transaction: Transaction
        /// The trace of the event that brought this version.
        var traceparent: String?
    }

    /// The transactions to sign, in the order of their ids: every batch locks rows in this order.
    let entries: [Entry]
    /// When transactions were finished.
    let finishes: [TransactionID: Timestamp]

    /// Folds events.
    ///
    /// - Throws: `DecodingError` for an event whose data is not what its type says.
    init(_ events: [ReceivedEvent]) throws {
        var newest: [TransactionID: Entry] = [:]
        var finishes: [TransactionID: Timestamp] = [:]
        for event in events {
            switch event.type {
            case .transactionPurchased, .transactionRestored, .transactionRefunded:
                let transaction = try event.decode(TransactionChanged.self).transaction
                if let known = newest[transaction.id],
                    known.transaction.version >= transaction.version
                {
                    continue
                }
                newest[transaction.id] = Entry(
                    transaction: transaction,
                    traceparent: event.traceparent
                )
            case .transactionFinished:
                let change = try event.decode(QueueChanged.self)
                // A failed transaction is finished too, but has no receipt to note it on.
                guard change.transaction.state != .failed, let finishedAt = change.finishedAt else {
                    continue
                }
                finishes[change.transaction.id] = min(
                    finishedAt,
                    finishes[change.transaction.id] ?? finishedAt
                )
            default:
                continue
            }
        }
        entries = newest.values.sorted { $0.transaction.id < $1.transaction.id }
        self.finishes = finishes
    }
}

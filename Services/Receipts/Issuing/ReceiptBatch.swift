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
    /// - Parameters:
    ///   - events: The events.
    ///   - environment: Which transactions may be signed; `nil`: none of these is going to be.
    /// - Throws: `DecodingError` for an event whose data is not what its type says;
    ///   ``ForeignEnvironment`` for a transaction of another environment.
    init(_ events: [ReceivedEvent], signedIn environment: StoreEnvironment?) throws {
        var newest: [TransactionID: Entry] = [:]
        var finishes: [TransactionID: Timestamp] = [:]
        for event in events {
            switch event.type {
            case .transactionPurchased, .transactionRestored, .transactionRefunded:
                let change = try event.decode(TransactionChanged.self)
                let transaction = change.transaction
                if let environment, let made = change.environment, made != environment.rawValue {
                    throw ForeignEnvironment(
                        transactionID: transaction.id,
                        environment: made,
                        own: environment
                    )
                }
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

/// A transaction was made in another environment than receipts are signed for.
///
/// Signed, it would pass play money off as money, or the other way round; passed over, it would be
/// lost. It waits, and everything behind it, for the right setting.
struct ForeignEnvironment: RetriableHandlerError, Hashable, CustomStringConvertible {
    let transactionID: TransactionID
    /// Where it was made.
    let environment: String
    /// What receipts are signed for here.
    let own: StoreEnvironment

    var isRetriable: Bool { true }

    var description: String {
        """
        Transaction \(transactionID) of payments was made with STORE_ENVIRONMENT=\(environment), and \
        receipts signs with STORE_ENVIRONMENT=\(own.rawValue); it is not signed
        """
    }
}

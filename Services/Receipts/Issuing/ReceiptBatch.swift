import EventTypes
import Messaging
import StoreTracing

/// The content of a batch of events: each transaction in its newest version, and each finish once.
///
/// Pure. A purchase and its refund in one batch become one receipt, already revoked. It does not
/// matter which came first, because the higher version wins (trap 5).
struct ReceiptBatch: Sendable {
    /// A paid transaction to sign.
    struct Entry: Sendable {
        /// The transaction in its newest version.
        var transaction: Transaction
        /// The JSON of the transaction as it was received, with members that this version does not
        /// know; `nil` if it cannot be cut out of the event.
        var snapshot: [UInt8]?
        /// The trace of the event that brought this version.
        var traceparent: TraceContext?
    }

    /// The transactions to sign, ordered by id.
    ///
    /// Every batch locks rows in this order.
    let entries: [Entry]
    /// The times at which transactions were finished.
    let finishes: [TransactionID: StoreTime]
    /// The changes of subscriptions, in the order of their events.
    let subscriptionChanges: [SubscriptionChanged]
    /// The requests of buyers for refunds, in the order of their events.
    let refundRequests: [RequestedRefund]
    /// The changes of requests to extend all subscribers, in the order of their events.
    let massExtensions: [MassExtensionChanged]
    /// The products that the catalog has published, in the order of their events.
    let products: [Product]

    /// Combines events.
    ///
    /// - Parameters:
    ///   - events: The events.
    ///   - environment: The environment whose transactions may be signed, or `nil` if none of them
    ///     will be signed.
    /// - Throws: `DecodingError` for an event whose data does not match its type.
    ///   ``ForeignEnvironment`` for a transaction of another environment.
    init(_ events: [ReceivedEvent], signedIn environment: StoreEnvironment?) throws {
        var versions: [Entry] = []
        // The place of the newest version of each transaction.
        var newest: [TransactionID: Int] = [:]
        var finishes: [TransactionID: StoreTime] = [:]
        var subscriptionChanges: [SubscriptionChanged] = []
        var refundRequests: [RequestedRefund] = []
        var massExtensions: [MassExtensionChanged] = []
        var products: [Product] = []
        for event in events {
            switch event.type {
            case .transactionPurchased, .transactionRestored, .transactionRefunded,
                .transactionRefundReversed, .transactionExtended:
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
                    versions[known].transaction.version >= transaction.version
                {
                    continue
                }
                newest[transaction.id] = versions.count
                versions.append(
                    Entry(
                        transaction: transaction,
                        snapshot: PlainJSON.rangeOfObject("transaction", in: event.data).map {
                            Array(event.data[$0])
                        },
                        traceparent: event.traceparent
                    )
                )
            case .transactionFinished:
                let change = try event.decode(QueueChanged.self)
                // A failed transaction can be finished too, but has no receipt to record it on.
                guard change.transaction.state != .failed, let finishedAt = change.finishedAt else {
                    continue
                }
                finishes[change.transaction.id] = min(
                    finishedAt,
                    finishes[change.transaction.id] ?? finishedAt
                )
            case .subscriptionChanged:
                subscriptionChanges.append(try event.decode(SubscriptionChanged.self))
            case .refundRequestChanged:
                refundRequests.append(try event.decode(RefundRequestChanged.self).request)
            case .massExtensionChanged:
                massExtensions.append(try event.decode(MassExtensionChanged.self))
            case .productChanged:
                products.append(try event.decode(ProductChanged.self).product)
            default:
                continue
            }
        }
        entries = newest.sorted { $0.key < $1.key }.map { versions[$0.value] }
        self.finishes = finishes
        self.subscriptionChanges = subscriptionChanges
        self.refundRequests = refundRequests
        self.massExtensions = massExtensions
        self.products = products
    }
}

/// A transaction was made in an environment that this service does not sign for.
///
/// If it were signed, play money would pass for money, or the other way round. If it were skipped,
/// it would be lost. So it waits, with everything behind it, until the setting is corrected.
struct ForeignEnvironment: RetriableHandlerError, Hashable, CustomStringConvertible {
    let transactionID: TransactionID
    /// The environment in which the transaction was made.
    let environment: String
    /// The environment that this service signs for.
    let own: StoreEnvironment

    var isRetriable: Bool { true }

    var description: String {
        """
        Transaction \(transactionID) of payments was made with STORE_ENVIRONMENT=\(environment), and \
        receipts signs with STORE_ENVIRONMENT=\(own.rawValue); it is not signed
        """
    }
}

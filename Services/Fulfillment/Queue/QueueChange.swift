import EventTypes
import StoreTracing

/// A change of a queue, with its revision.
///
/// It is published and sent to clients.
struct QueueChange: Sendable {
    let queue: QueueKey
    let transactionID: TransactionID
    let revision: Int64
    let snapshot: TransactionSnapshot
    let isDelivered: Bool
    let finishedAt: StoreTime?
    /// The JSON of the hosted contents that the transaction carries, if any.
    let contents: [UInt8]?
    var traceparent: TraceContext?

    /// The data of its event.
    var data: [UInt8] {
        snapshot.queueChanged(
            revision: revision,
            isDelivered: isDelivered,
            finishedAt: finishedAt,
            contents: contents
        )
    }

    /// The message for the clients' streams.
    var message: QueueMessage {
        QueueMessage(
            revision: revision,
            kind: finishedAt == nil ? .transaction : .removed,
            data: data
        )
    }
}

/// The message about one change in a client's stream.
struct QueueMessage: Hashable, Sendable {
    /// The subject of the message.
    ///
    /// The raw values are the names of the stream's events.
    enum Kind: String, Hashable, Sendable {
        /// A transaction that is in the queue.
        case transaction
        /// A transaction that has left it.
        case removed
        /// The account.
        case account
        /// A subscription that changed without a transaction.
        case subscription
    }

    let revision: Int64
    let kind: Kind
    /// The JSON of a ``QueueChanged``, a ``QueueAccountChanged`` or a ``QueueSubscriptionChanged``.
    let data: [UInt8]
}

import EventTypes

/// One change of a queue, with its revision: what is published, and what clients are sent.
struct QueueChange: Sendable {
    let queue: QueueKey
    let transactionID: TransactionID
    let revision: Int64
    let snapshot: TransactionSnapshot
    let isDelivered: Bool
    let finishedAt: Timestamp?
    /// The JSON of what is hosted for it, if anything.
    let contents: [UInt8]?
    var traceparent: String?

    /// The data of its event.
    var data: [UInt8] {
        snapshot.queueChanged(
            revision: revision,
            isDelivered: isDelivered,
            finishedAt: finishedAt,
            contents: contents
        )
    }

    /// The message that tells a client.
    var message: QueueMessage {
        QueueMessage(
            revision: revision,
            kind: finishedAt == nil ? .transaction : .removed,
            data: data
        )
    }
}

/// What a client's stream is sent of one change.
struct QueueMessage: Hashable, Sendable {
    /// What it tells of; the raw values are the names of the stream's events.
    enum Kind: String, Hashable, Sendable {
        /// A transaction that is in the queue.
        case transaction
        /// A transaction that has left it.
        case removed
        /// The account.
        case account
    }

    let revision: Int64
    let kind: Kind
    /// The JSON of a ``QueueChanged``, or of a ``QueueAccountChanged``.
    let data: [UInt8]
}

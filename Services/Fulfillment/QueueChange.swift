import EventTypes

/// One change of a queue, with its revision: what is published, and what clients are sent.
struct QueueChange: Sendable {
    let queue: QueueKey
    let transactionID: TransactionID
    let revision: Int64
    let snapshot: TransactionSnapshot
    let isDelivered: Bool
    let finishedAt: Timestamp?
    var traceparent: String?

    /// The data of its event.
    var data: [UInt8] {
        snapshot.queueChanged(revision: revision, isDelivered: isDelivered, finishedAt: finishedAt)
    }

    /// The message that tells a client.
    var message: QueueMessage {
        QueueMessage(revision: revision, isRemoval: finishedAt != nil, data: data)
    }
}

/// What a client's stream is sent of one change.
struct QueueMessage: Hashable, Sendable {
    let revision: Int64
    /// Whether the transaction has left the queue.
    let isRemoval: Bool
    /// The JSON of a ``QueueChanged``.
    let data: [UInt8]
}

import EventTypes
import StoreTracing

/// The properties of a transaction in a queue that the rules need.
struct QueuedTransaction: Hashable, Sendable {
    let id: TransactionID
    let queue: QueueKey
    var version: Int
    var state: TransactionState
    var revokedAt: StoreTime?
    var isDelivered: Bool
    var finishedAt: StoreTime?
    /// The JSON of its hosted contents, fixed when it entered the queue as paid.
    var contents: [UInt8]?
    /// The trace that brought it into the queue.
    var traceparent: TraceContext?

    /// Whether the store has received payment for the transaction, or for its original.
    var isPaid: Bool { state == .purchased || state == .restored }
}

import EventTypes
import StoreTracing

/// A client's request to finish a transaction.
struct FinishRequest: Hashable, Sendable {
    let transactionID: TransactionID
    let queue: QueueKey
    /// The trace of the HTTP request.
    ///
    /// It is the purchase's trace only if the client has propagated it.
    let trace: TraceContext
}

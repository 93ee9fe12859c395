import EventTypes
import StoreTracing

/// A transaction that arrived from another service, with its original bytes.
struct ArrivedTransaction: Sendable {
    let transaction: Transaction
    let snapshot: TransactionSnapshot
    let traceparent: TraceContext?
    /// Whether it came with its receipt.
    var isReceipted = true
}

import EventTypes
import StoreTracing

/// An event of a transaction, before it is written to the outbox.
struct TransactionEvent: Sendable {
    let transaction: Transaction
    let type: EventType
    /// The posting of the money that moved.
    var posting: PostingReference?
    /// The purchase intent that the transaction pays.
    var purchaseIntentID: PurchaseIntentID?
    /// The interrupted transaction that it resumes.
    var resumes: TransactionID?
    /// The act that led to it.
    var act: Act?
    /// The trace context of the event.
    var traceparent: TraceContext?
}

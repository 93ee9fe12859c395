import EventTypes

/// An event of a transaction, before it is written to the outbox.
struct TransactionEvent: Sendable {
    let transaction: Transaction
    let type: EventType
    /// The money that moved with it.
    var posting: PostingReference?
    /// The purchase intent that the transaction pays.
    var purchaseIntentID: PurchaseIntentID?
    /// The interrupted transaction that it takes up.
    var resumes: TransactionID?
    /// Where in its trace it happens.
    var traceparent: String?
}

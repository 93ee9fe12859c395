import EventTypes

/// A payment that was accepted, on its way into the tables.
struct Acceptance: Sendable {
    var record: TransactionRecord
    var attempt: ProcessorAttempt?
    /// Why it is granted at once, if it is.
    var grant: TransactionCommand?
    /// The purchase intent that it pays.
    var purchaseIntentID: PurchaseIntentID?
    /// The interrupted transaction that it takes up.
    var resumes: TransactionID?
    /// The answer and event, encoded once for both.
    var body: [UInt8] = []
}

extension Acceptance {
    /// A transaction in `purchasing`, with the attempt to charge it or the reason why it costs
    /// nothing.
    ///
    /// - Parameters:
    ///   - record: The transaction.
    ///   - paymentMethod: What is charged.
    ///   - time: When it is accepted.
    ///   - lease: How long the attempt belongs to the process that accepts it.
    init(
        of record: TransactionRecord,
        by paymentMethod: String,
        at time: Timestamp,
        lease: Duration
    ) {
        guard !record.transaction.price.isZero else {
            self.init(record: record, grant: .grantFree)
            return
        }
        let attempt = ProcessorAttempt(
            transactionID: record.transaction.id,
            kind: .charge,
            id: AttemptID(time: time),
            step: .calling,
            paymentMethod: paymentMethod,
            amount: record.transaction.price,
            dueAt: time.advanced(by: lease)
        )
        self.init(record: record, attempt: attempt)
    }
}

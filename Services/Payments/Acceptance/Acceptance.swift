import EventTypes
import StoreAPI

/// An accepted payment that is not written yet.
struct Acceptance: Sendable {
    var record: TransactionRecord
    var attempt: ProcessorAttempt?
    /// The command that grants the payment without a charge; `nil` if it is charged.
    var grant: TransactionCommand?
    /// The purchase intent that the payment pays.
    var purchaseIntentID: PurchaseIntentID?
    /// The interrupted transaction that the payment resumes.
    var resumes: TransactionID?
    /// The key of the request, if it has one.
    var key: UsedKey?
    /// The JSON of both the answer and the event, encoded once.
    var body: [UInt8] = []
}

extension Acceptance {
    /// Makes a transaction in `purchasing`, with the attempt to charge it, or with `grantFree` if
    /// it costs nothing.
    ///
    /// - Parameters:
    ///   - record: The transaction.
    ///   - paymentMethod: The payment method to charge.
    ///   - ids: The source of the attempt's id.
    ///   - time: The time of acceptance.
    ///   - leaseEnd: The time until which the attempt belongs to the process that accepts it.
    init(
        of record: TransactionRecord,
        by paymentMethod: PaymentMethod,
        drawing ids: IDSource,
        at time: StoreTime,
        leaseEnd: MachineTime
    ) {
        guard !record.transaction.price.isZero else {
            self.init(record: record, grant: .grantFree)
            return
        }
        let attempt = ProcessorAttempt(
            transactionID: record.transaction.id,
            kind: .charge,
            id: ids.attempt(at: time),
            step: .calling,
            paymentMethod: paymentMethod,
            amount: record.transaction.price,
            renewalTry: record.transaction.subscription.map { $0.charge?.attempt ?? 0 },
            dueAt: leaseEnd
        )
        self.init(record: record, attempt: attempt)
    }
}

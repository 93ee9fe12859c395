import EventTypes

/// A payment that was accepted, on its way into the tables.
struct Acceptance {
    /// The place of its request in the batch.
    var position: Int
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

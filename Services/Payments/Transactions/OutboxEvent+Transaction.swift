import EventTypes
import Ledger
import Messaging

extension OutboxEvent {
    /// The event of a transaction that changed.
    ///
    /// It tells the environment of the store, so that nobody signs play money as money. Its data and
    /// the HTTP answer to a payment are the same bytes.
    init(
        _ transaction: Transaction,
        _ type: EventType,
        at time: Timestamp,
        in environment: StoreEnvironment,
        posting: PostingReference? = nil,
        purchaseIntentID: PurchaseIntentID? = nil,
        resumes: TransactionID? = nil,
        traceparent: String?
    ) throws {
        try self.init(
            TransactionChanged(
                transaction: transaction,
                posting: posting,
                purchaseIntentID: purchaseIntentID,
                resumes: resumes,
                environment: environment.rawValue
            ),
            type: type,
            topic: Topics.paymentsTransactions,
            key: transaction.accountID.rawValue,
            subject: transaction.id.rawValue,
            time: time,
            traceparent: traceparent
        )
    }
}

extension PostingReference {
    /// What the event of a posting says of it.
    ///
    /// `gross` only where it is not the transaction's price.
    init(_ posting: Posting, of record: TransactionRecord, gross: Money? = nil) {
        self.init(
            id: EventID(bytes: posting.id.bytes),
            taxBasisPoints: record.taxBasisPoints,
            gross: gross
        )
    }
}

import ClockAndIDs
import EventTypes
import Ledger
import Messaging

extension OutboxEvent {
    /// The event of a transaction that changed.
    ///
    /// It names the environment of the store, so that sandbox purchases are never signed as real
    /// ones. Its data and the HTTP answer to a payment are the same bytes.
    init(
        _ event: TransactionEvent,
        at time: StoreTime,
        in environment: StoreEnvironment
    ) throws {
        self.init(
            id: EventID(time: time),
            type: event.type,
            topicName: Self.topic(of: event),
            key: event.transaction.accountID.rawValue,
            subject: event.transaction.id.rawValue,
            time: time,
            traceparent: event.traceparent,
            data: try EventCoding.encode(
                TransactionChanged(
                    transaction: event.transaction,
                    posting: event.posting,
                    purchaseIntentID: event.purchaseIntentID,
                    resumes: event.resumes,
                    environment: environment.rawValue,
                    act: event.act
                )
            )
        )
    }

    /// The topic of an event.
    ///
    /// No queue shows a renewal that is only begun, so nobody acts on its event.
    private static func topic(of event: TransactionEvent) -> String {
        guard event.type == .transactionPurchasing else { return Topics.paymentsTransactions.name }
        return event.transaction.reason == .renewal
            ? Topics.logOnly : Topics.paymentsPurchasing.name
    }
}

extension PostingReference {
    /// Describes a posting in its event.
    ///
    /// The amount is left out if it is the transaction's price.
    init(_ posting: Posting, of record: TransactionRecord) {
        self.init(
            id: EventID(bytes: posting.id.bytes),
            taxBasisPoints: record.taxBasisPoints,
            gross: posting.gross == record.transaction.price ? nil : posting.gross
        )
    }
}

import EventTypes
import Messaging
import Postgres

/// The table of resumed payments.
///
/// Its rows are written under the lock of the failed transaction.
enum ResumptionStore {
    /// The transaction that resumes a failed one, if there is one.
    static func find(
        _ failedID: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> TransactionID? {
        try connection.query(
            "SELECT transaction_id FROM resumptions WHERE failed_id = \(failedID.number)"
        ).first.map { TransactionID(number: try $0.decode(Int64.self)) }
    }

    /// Records the transaction that resumes a failed one.
    static func insert(
        _ id: TransactionID,
        after failedID: TransactionID,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            INSERT INTO resumptions (failed_id, transaction_id, created_at)
            VALUES (\(failedID.number), \(id.number), \(time))
            """
        )
    }
}

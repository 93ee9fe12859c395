import EventTypes
import Messaging
import Postgres

/// The SQL of merchants' reports on purchases whose refund is requested.
enum ConsumptionStore {
    /// Locks an app's transaction, so that reports on it are judged one after the other.
    ///
    /// - Returns: The type of its product; `nil` if the app has no such transaction.
    static func lock(
        _ transaction: TransactionID,
        in bundle: BundleID,
        on connection: isolated PostgresConnection
    ) throws -> ProductType? {
        let rows = try connection.query(
            """
            SELECT product_type
            FROM signed_transactions JOIN app_transactions USING (app_transaction_id)
            WHERE transaction_id = \(transaction.number) AND bundle_id = \(bundle)
            FOR NO KEY UPDATE OF signed_transactions
            """
        )
        return try rows.first.map { ProductType(rawValue: try $0.decode(String.self)) }
    }

    /// Stores a report, replacing an earlier one.
    static func insert(
        _ report: ConsumptionReport,
        of transaction: TransactionID,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            INSERT INTO consumptions (transaction_id, received_at, document)
            VALUES (\(transaction.number), \(now), \(PostgresJSON(bytes: report.document)))
            ON CONFLICT (transaction_id) DO UPDATE
            SET received_at = excluded.received_at, document = excluded.document
            """
        )
    }

    /// Returns the newest report on a transaction, as JSON, and when it came.
    static func newest(
        of transaction: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> (receivedAt: StoreTime, document: [UInt8])? {
        let rows = try connection.query(
            """
            SELECT received_at, document FROM consumptions
            WHERE transaction_id = \(transaction.number)
            """
        )
        return try rows.first.map { row in
            let (receivedAt, document) = try row.decode(StoreTime.self, PostgresJSON.self)
            return (receivedAt, document.bytes)
        }
    }
}

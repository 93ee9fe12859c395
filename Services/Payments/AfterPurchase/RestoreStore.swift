import EventTypes
import Messaging
import Postgres

/// The table of restores, by the keys of their requests.
enum RestoreStore {
    /// The first restore under a key: its fingerprint and the transactions that it made.
    static func find(
        _ key: RequestKey,
        on connection: isolated PostgresConnection
    ) throws -> (fingerprint: [UInt8], transactionIDs: [TransactionID])? {
        try connection.query(
            """
            SELECT fingerprint, transaction_ids FROM restores
            WHERE account_id = \(key.accountID) AND idempotency_key = \(key.idempotencyKey)
            """
        ).first.map { row in
            let (fingerprint, ids) = try row.decode([UInt8].self, [Int64].self)
            return (fingerprint, ids.map { TransactionID(number: $0) })
        }
    }

    /// Takes a key for a restore.
    ///
    /// Waits for another restore that is taking the same key at this moment.
    ///
    /// - Returns: Whether it was taken; otherwise another request was faster.
    static func take(
        _ key: RequestKey,
        _ fingerprint: [UInt8],
        for ids: [TransactionID],
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try connection.execute(
            """
            INSERT INTO restores
                (account_id, idempotency_key, fingerprint, transaction_ids, created_at)
            VALUES (\(key.accountID), \(key.idempotencyKey), \(fingerprint), \(ids.map(\.number)),
                \(time))
            ON CONFLICT (account_id, idempotency_key) DO NOTHING
            """
        ) == 1
    }
}

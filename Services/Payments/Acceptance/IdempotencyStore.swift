import EventTypes
import Messaging
import Postgres

/// The first use of a key.
struct KeyUse: Hashable, Sendable {
    let fingerprint: [UInt8]
    let transactionIDs: [TransactionID]
}

/// The table of request keys.
///
/// The first request that is accepted with a key takes it for good. A refused request does not take
/// its key.
enum IdempotencyStore {
    /// Returns the first uses of keys; unused keys are absent.
    static func uses(
        of keys: [RequestKey],
        on connection: isolated PostgresConnection
    ) throws -> [RequestKey: KeyUse] {
        guard !keys.isEmpty else { return [:] }
        let rows = try connection.query(
            """
            SELECT k.account_id, k.idempotency_key, k.fingerprint, k.transaction_ids
            FROM unnest(\(keys.map(\.accountID)), \(keys.map(\.idempotencyKey)))
                AS asked (account_id, idempotency_key)
            JOIN idempotency_keys k USING (account_id, idempotency_key)
            """
        )
        var uses: [RequestKey: KeyUse] = [:]
        for row in rows {
            let (account, key, fingerprint, ids) = try row.decode(
                AccountID.self,
                String.self,
                [UInt8].self,
                [Int64].self
            )
            uses[RequestKey(accountID: account, idempotencyKey: key)] = KeyUse(
                fingerprint: fingerprint,
                transactionIDs: ids.map { TransactionID(number: $0) }
            )
        }
        return uses
    }

    /// Takes keys, each for one new transaction.
    ///
    /// Waits for a request of another process that is taking the same key at this moment.
    ///
    /// - Returns: The keys that were taken. Another request was faster with each of the others.
    static func take(
        _ uses: [(key: RequestKey, fingerprint: [UInt8], transactionID: TransactionID)],
        at time: Timestamp,
        on connection: isolated PostgresConnection
    ) throws -> Set<RequestKey> {
        guard !uses.isEmpty else { return [] }
        // Every batch takes keys in the same order, so two batches that share keys cannot deadlock.
        let ordered = uses.sorted { $0.key < $1.key }
        let rows = try connection.query(
            """
            INSERT INTO idempotency_keys
                (account_id, idempotency_key, fingerprint, transaction_ids, created_at)
            SELECT account_id, idempotency_key, fingerprint, ARRAY[transaction_id], \(time)
            FROM unnest(
                \(ordered.map(\.key.accountID)), \(ordered.map(\.key.idempotencyKey)),
                \(ordered.map(\.fingerprint)), \(ordered.map(\.transactionID.number)))
                AS u (account_id, idempotency_key, fingerprint, transaction_id)
            ON CONFLICT (account_id, idempotency_key) DO NOTHING
            RETURNING account_id, idempotency_key
            """
        )
        var taken: Set<RequestKey> = []
        for row in rows {
            let (account, key) = try row.decode(AccountID.self, String.self)
            taken.insert(RequestKey(accountID: account, idempotencyKey: key))
        }
        return taken
    }

    /// Takes one key for any number of new transactions.
    ///
    /// - Returns: Whether it was taken; otherwise another request was faster.
    static func take(
        _ key: RequestKey,
        _ use: KeyUse,
        at time: Timestamp,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try connection.execute(
            """
            INSERT INTO idempotency_keys
                (account_id, idempotency_key, fingerprint, transaction_ids, created_at)
            VALUES (\(key.accountID), \(key.idempotencyKey), \(use.fingerprint),
                \(use.transactionIDs.map(\.number)), \(time))
            ON CONFLICT (account_id, idempotency_key) DO NOTHING
            """
        ) == 1
    }
}

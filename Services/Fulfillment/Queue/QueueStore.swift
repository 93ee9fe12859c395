import ClockAndIDs
import EventTypes
import Messaging
import Postgres

/// The SQL of the queues.
///
/// Every function is one statement for a whole batch.
///
/// A writer calls ``lock(_:on:)`` before it changes a queue. So a queue has one writer at a time,
/// and locks on several queues are always taken in the same order. The rows that a writer then
/// reads stay unchanged until it commits. The lock is sent together with the first read.
enum QueueStore {
    /// Locks queues until the end of the database transaction, and inserts those that do not exist.
    ///
    /// The statement locks in one pass and in one order, and writes no row that exists: `WHERE
    /// false` only locks the conflicting row.
    static func lock(_ queues: Set<QueueKey>, on connection: isolated PostgresConnection) throws {
        let queues = Array(queues)
        try connection.enqueue(
            """
            INSERT INTO queues (account_id, bundle_id)
            SELECT account_id, bundle_id
            FROM unnest(\(queues.map(\.accountID)), \(queues.map(\.bundleID)))
                AS wanted (account_id, bundle_id)
            ORDER BY account_id COLLATE "C", bundle_id COLLATE "C"
            ON CONFLICT (account_id, bundle_id)
                DO UPDATE SET revision = queues.revision WHERE false
            """
        )
    }

    /// Locks the queues that exist.
    ///
    /// Requests use it, because they create no queues.
    static func lockExisting(
        _ queues: Set<QueueKey>,
        on connection: isolated PostgresConnection
    ) throws {
        let queues = Array(queues)
        // Not a join: PostgreSQL would read the whole table for a large batch.
        try connection.enqueue(
            """
            SELECT 1
            FROM (
                SELECT * FROM unnest(\(queues.map(\.accountID)), \(queues.map(\.bundleID)))
                    AS asked (account_id, bundle_id)
                ORDER BY account_id COLLATE "C", bundle_id COLLATE "C"
            ) AS wanted CROSS JOIN LATERAL (
                SELECT 1 FROM queues
                WHERE queues.account_id = wanted.account_id AND queues.bundle_id = wanted.bundle_id
                FOR UPDATE
            ) AS locked
            """
        )
    }

    /// Finds the transactions that queues have, at any version.
    static func known(
        _ ids: [TransactionID],
        on connection: isolated PostgresConnection
    ) throws -> Set<TransactionID> {
        guard !ids.isEmpty else { return [] }
        let rows = try connection.query(
            """
            SELECT transaction_id FROM queue_transactions
            WHERE transaction_id = ANY(\(ids.map(\.number)))
            """
        )
        return Set(try rows.map { TransactionID(number: try $0.decode(Int64.self)) })
    }

    private static let columns = """
        transaction_id, account_id, bundle_id, version, state, revoked_at, is_delivered,
        finished_at, contents, traceparent
        """

    /// Reads the queues' rows of transactions.
    static func transactions(
        _ ids: some Collection<TransactionID>
    ) -> PostgresReading<[TransactionID: QueuedTransaction]> {
        guard !ids.isEmpty else { return PostgresReading(known: [:]) }
        return PostgresReading(
            """
            SELECT \(unsafe: columns)
            FROM queue_transactions WHERE transaction_id = ANY(\(ids.map(\.number)))
            """
        ) { rows in
            var transactions: [TransactionID: QueuedTransaction] = [:]
            for row in rows {
                var values = try row.columns(10)
                let transaction = try transaction(in: &values)
                transactions[transaction.id] = transaction
            }
            return transactions
        }
    }

    /// Reads the same rows, and the JSON of the transactions.
    static func transactionsWithSnapshots(
        _ ids: some Collection<TransactionID>
    ) -> PostgresReading<
        ([TransactionID: QueuedTransaction], [TransactionID: TransactionSnapshot])
    > {
        guard !ids.isEmpty else { return PostgresReading(known: ([:], [:])) }
        return PostgresReading(
            """
            SELECT \(unsafe: columns), transaction
            FROM queue_transactions WHERE transaction_id = ANY(\(ids.map(\.number)))
            """
        ) { rows in
            var transactions: [TransactionID: QueuedTransaction] = [:]
            var snapshots: [TransactionID: TransactionSnapshot] = [:]
            for row in rows {
                var values = try row.columns(11)
                let transaction = try transaction(in: &values)
                let packed = try values.next([UInt8].self)
                transactions[transaction.id] = transaction
                snapshots[transaction.id] = try TransactionSnapshot(packed: packed)
            }
            return (transactions, snapshots)
        }
    }

    /// Reads a row, up to the last of its `columns`.
    private static func transaction(
        in values: inout PostgresColumns
    ) throws -> QueuedTransaction {
        let number = try values.next(Int64.self)
        let accountID = try values.next(AccountID.self)
        let bundleID = try values.next(BundleID.self)
        let version = try values.next(Int32.self)
        let state = try values.next(String.self)
        let revokedAt = try values.next(StoreTime?.self)
        let isDelivered = try values.next(Bool.self)
        let finishedAt = try values.next(StoreTime?.self)
        let contents = try values.next(PostgresJSON?.self)
        let traceparent = try values.next(StoredTrace?.self)
        return QueuedTransaction(
            id: TransactionID(number: number),
            queue: QueueKey(accountID: accountID, bundleID: bundleID),
            version: Int(version),
            state: TransactionState(rawValue: state),
            revokedAt: revokedAt,
            isDelivered: isDelivered,
            finishedAt: finishedAt,
            contents: contents?.bytes,
            traceparent: traceparent?.context
        )
    }

    /// Advances the revisions of locked queues.
    ///
    /// - Returns: The previous revision of each queue. Its changes are numbered from there.
    static func advance(
        _ counts: [QueueKey: Int64],
        on connection: isolated PostgresConnection
    ) throws -> [QueueKey: Int64] {
        let counts = Array(counts)
        let rows = try connection.query(
            """
            UPDATE queues SET revision = queues.revision + changed.count
            FROM unnest(
                \(counts.map(\.key.accountID)), \(counts.map(\.key.bundleID)),
                \(counts.map(\.value))
            ) AS changed (account_id, bundle_id, count)
            WHERE queues.account_id = changed.account_id AND queues.bundle_id = changed.bundle_id
            RETURNING queues.account_id, queues.bundle_id, queues.revision - changed.count
            """
        )
        return try rows.valuesByQueue(Int64.self)
    }

    /// Writes the rows of changed transactions.
    static func save(
        _ rows: [QueuePlan.Change],
        revisions: [QueueKey: Int64],
        on connection: isolated PostgresConnection
    ) throws {
        guard !rows.isEmpty else { return }
        // Most batches have one value of each of these.
        let bundles = rows.map(\.after.queue.bundleID)
        let versions = rows.map { Int32($0.after.version) }
        let states = rows.map(\.after.state.rawValue)
        let times = rows.map(\.time)
        try connection.enqueue(
            """
            INSERT INTO queue_transactions
                (transaction_id, account_id, bundle_id, version, state, revoked_at, transaction,
                is_delivered, finished_at, contents, revision, changed_at, traceparent)
            SELECT transaction_id, account_id, coalesce(bundle_id, \(ifEqual: bundles)),
                coalesce(version, \(ifEqual: versions)), coalesce(state, \(ifEqual: states)),
                revoked_at, transaction, is_delivered, finished_at, contents, revision,
                coalesce(changed_at, \(ifEqual: times)), traceparent
            FROM unnest(
                \(rows.map(\.after.id.number)), \(rows.map(\.after.queue.accountID)),
                \(unlessEqual: bundles), \(unlessEqual: versions),
                \(unlessEqual: states), \(padded: rows.map(\.after.revokedAt)),
                \(rows.map(\.snapshot.packed)),
                \(rows.map(\.after.isDelivered)), \(padded: rows.map(\.after.finishedAt)),
                \(padded: rows.map { $0.after.contents.map(PostgresJSON.init(bytes:)) }),
                \(rows.map { revisions[$0.after.queue, default: 0] + $0.ordinal }),
                \(unlessEqual: times), \(rows.map { StoredTrace($0.after.traceparent) })
            ) AS u (transaction_id, account_id, bundle_id, version, state, revoked_at, transaction,
                is_delivered, finished_at, contents, revision, changed_at, traceparent)
            ON CONFLICT (transaction_id) DO UPDATE SET
                version = excluded.version, state = excluded.state,
                revoked_at = excluded.revoked_at, transaction = excluded.transaction,
                is_delivered = excluded.is_delivered, finished_at = excluded.finished_at,
                contents = excluded.contents, revision = excluded.revision,
                changed_at = excluded.changed_at
            """
        )
    }

    /// Marks transactions as finished.
    ///
    /// Each change carries its own time.
    static func finish(
        _ changes: [QueueChange],
        on connection: isolated PostgresConnection
    ) throws {
        guard !changes.isEmpty else { return }
        try connection.enqueue(
            """
            UPDATE queue_transactions
            SET finished_at = finished.time, changed_at = finished.time,
                revision = finished.revision
            FROM unnest(
                \(changes.map(\.transactionID.number)), \(changes.map(\.revision)),
                \(changes.map(\.finishedAt))
            ) AS finished (transaction_id, revision, time)
            WHERE queue_transactions.transaction_id = finished.transaction_id
            """
        )
    }

    /// Marks transactions as delivered.
    static func markDelivered(
        _ changes: [QueueChange],
        now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.enqueue(
            """
            UPDATE queue_transactions
            SET is_delivered = true, changed_at = \(now), revision = delivered.revision
            FROM unnest(
                \(changes.map(\.transactionID.number)), \(changes.map(\.revision))
            ) AS delivered (transaction_id, revision)
            WHERE queue_transactions.transaction_id = delivered.transaction_id
            """
        )
    }
}

extension PostgresRows {
    /// Decodes rows of an account, an app and one value.
    func valuesByQueue<Value: PostgresDecodable>(
        _ type: Value.Type
    ) throws -> [QueueKey: Value] {
        var values: [QueueKey: Value] = [:]
        for row in self {
            let (accountID, bundleID, value) = try row.decode(
                AccountID.self,
                BundleID.self,
                type
            )
            values[QueueKey(accountID: accountID, bundleID: bundleID)] = value
        }
        return values
    }
}

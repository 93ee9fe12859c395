import EventTypes
import Messaging
import Postgres

/// The SQL of the accounts that queues show.
///
/// Every function is one statement for a whole batch, and the queues are locked
/// (``QueueStore/lock(_:on:)``).
enum QueueAccountStore {
    /// Reads the versions of the accounts that queues have.
    static func versions(in queues: Set<QueueKey>) -> PostgresReading<[QueueKey: Int]> {
        guard !queues.isEmpty else { return PostgresReading(known: [:]) }
        let queues = Array(queues)
        return PostgresReading(
            """
            SELECT account_id, bundle_id, version
            FROM unnest(\(queues.map(\.accountID)), \(queues.map(\.bundleID)))
                AS wanted (account_id, bundle_id)
            JOIN queue_accounts USING (account_id, bundle_id)
            """
        ) { rows in
            try rows.valuesByQueue(Int32.self).mapValues { Int($0) }
        }
    }

    /// Writes the rows of changed accounts.
    static func save(
        _ changes: [QueuePlan.AccountChange],
        revisions: [QueueKey: Int64],
        on connection: isolated PostgresConnection
    ) throws {
        guard !changes.isEmpty else { return }
        try connection.enqueue(
            """
            INSERT INTO queue_accounts
                (account_id, bundle_id, version, account, revision, changed_at)
            SELECT * FROM unnest(
                \(changes.map(\.arrival.queue.accountID)), \(changes.map(\.arrival.queue.bundleID)),
                \(changes.map { Int32($0.arrival.version) }),
                \(changes.map(\.arrival.snapshot.packed)),
                \(changes.map { revisions[$0.arrival.queue, default: 0] + $0.ordinal }),
                \(changes.map(\.time))
            )
            ON CONFLICT (account_id, bundle_id) DO UPDATE SET
                version = excluded.version, account = excluded.account,
                revision = excluded.revision, changed_at = excluded.changed_at
            """
        )
    }
}

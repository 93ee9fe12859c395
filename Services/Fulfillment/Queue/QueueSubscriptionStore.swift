import EventTypes
import Messaging
import Postgres

/// The SQL of the changes of subscriptions that queues show.
///
/// Every function is one statement for a whole batch, and the queues are locked
/// (``QueueStore/lock(_:on:)``).
enum QueueSubscriptionStore {
    /// Reads the versions of the subscriptions that queues have shown.
    static func versions(
        of ids: Set<TransactionID>
    ) -> PostgresReading<[TransactionID: Int]> {
        guard !ids.isEmpty else { return PostgresReading(known: [:]) }
        return PostgresReading(
            """
            SELECT subscription_id, version FROM queue_subscriptions
            WHERE subscription_id = ANY(\(ids.map(\.number)))
            """
        ) { rows in
            var versions: [TransactionID: Int] = [:]
            for row in rows {
                let (number, version) = try row.decode(Int64.self, Int32.self)
                versions[TransactionID(number: number)] = Int(version)
            }
            return versions
        }
    }

    /// Writes the rows of changed subscriptions.
    static func save(
        _ changes: [QueuePlan.SubscriptionChange],
        revisions: [QueueKey: Int64],
        on connection: isolated PostgresConnection
    ) throws {
        guard !changes.isEmpty else { return }
        try connection.enqueue(
            """
            INSERT INTO queue_subscriptions
                (subscription_id, account_id, bundle_id, version, subscription, revision,
                changed_at)
            SELECT * FROM unnest(
                \(changes.map(\.arrival.id.number)), \(changes.map(\.arrival.queue.accountID)),
                \(changes.map(\.arrival.queue.bundleID)),
                \(changes.map { Int32($0.arrival.version) }),
                \(changes.map(\.arrival.snapshot.packed)),
                \(changes.map { revisions[$0.arrival.queue, default: 0] + $0.ordinal }),
                \(changes.map(\.time))
            )
            ON CONFLICT (subscription_id) DO UPDATE SET
                version = excluded.version, subscription = excluded.subscription,
                revision = excluded.revision, changed_at = excluded.changed_at
            """
        )
    }
}

import EventTypes
import Messaging
import Postgres

/// The SQL of the projection of subscriptions.
enum SubscriptionProjectionStore {
    /// Writes subscriptions, unless newer versions of them are there.
    static func save(
        _ subscriptions: [Subscription],
        on connection: isolated PostgresConnection
    ) throws {
        let rows = Subscription.newest(of: subscriptions)
        guard !rows.isEmpty else { return }
        try connection.enqueue(
            """
            INSERT INTO subscriptions AS known (
                id, account_id, bundle_id, version, transaction_id, starts_at, ends_at,
                earlier_transaction_id, earlier_ends_at, data)
            SELECT * FROM unnest(
                \(rows.map(\.id.number)), \(rows.map(\.accountID)), \(rows.map(\.bundleID)),
                \(rows.map { Int32($0.version) }), \(rows.map(\.period.transactionID.number)),
                \(rows.map(\.period.start)), \(rows.map(\.entitlementEnd)),
                \(rows.map { $0.earlierPeriod?.transactionID.number }),
                \(rows.map { $0.earlierPeriod?.effectiveEnd }),
                \(rows.map(PostgresJSON.init(plain:))))
            ON CONFLICT (id) DO UPDATE SET
                version = excluded.version, transaction_id = excluded.transaction_id,
                starts_at = excluded.starts_at, ends_at = excluded.ends_at,
                earlier_transaction_id = excluded.earlier_transaction_id,
                earlier_ends_at = excluded.earlier_ends_at, data = excluded.data
            WHERE known.version < excluded.version
            """
        )
    }
}

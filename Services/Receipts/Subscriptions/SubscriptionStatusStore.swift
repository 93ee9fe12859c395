import EventTypes
import Messaging
import Postgres

/// The SQL of the projection of subscriptions, from which their statuses are made.
enum SubscriptionStatusStore {
    /// Writes subscriptions, unless newer versions of them are there.
    static func save(
        _ subscriptions: [Subscription],
        on connection: isolated PostgresConnection
    ) throws {
        let rows = Subscription.newest(of: subscriptions)
        guard !rows.isEmpty else { return }
        try connection.enqueue(
            """
            INSERT INTO subscriptions AS known (id, account_id, bundle_id, version, data)
            SELECT * FROM unnest(
                \(rows.map(\.id.number)), \(rows.map(\.accountID)), \(rows.map(\.bundleID)),
                \(rows.map { Int32($0.version) }), \(try rows.map { try PostgresJSON(encoding: $0) }))
            ON CONFLICT (id) DO UPDATE SET version = excluded.version, data = excluded.data
            WHERE known.version < excluded.version
            """
        )
    }

    /// Reads the subscriptions of an account in an app, the oldest first.
    static func load(
        of owner: OwnerKey,
        on connection: isolated PostgresConnection
    ) throws -> [Subscription] {
        try connection.query(
            """
            SELECT data FROM subscriptions
            WHERE account_id = \(owner.account) AND bundle_id = \(owner.bundle) ORDER BY id
            """
        ).map { try $0.decode(PostgresJSON.self).decode(Subscription.self) }
    }
}

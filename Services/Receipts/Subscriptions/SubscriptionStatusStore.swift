import EventTypes
import Messaging
import Postgres

/// The SQL of the projection of subscriptions, from which their statuses are made.
enum SubscriptionStatusStore {
    /// Writes the subscriptions of changes, unless newer versions of them are there.
    ///
    /// - Returns: The changes that were not known, in their order. A change whose event comes again
    ///   is not among them.
    static func save(
        _ changes: [SubscriptionChanged],
        on connection: isolated PostgresConnection
    ) throws -> [SubscriptionChanged] {
        guard !changes.isEmpty else { return [] }
        let ids = Set(changes.map(\.subscription.id))
        // Nearly always a batch has one change of each. What is written is then what was not known.
        guard ids.count < changes.count else {
            let written = try write(changes, on: connection)
            return changes.filter { written.contains($0.subscription.id) }
        }
        var versions = try lock(ids, on: connection)
        let new = changes.filter { change in
            let subscription = change.subscription
            guard versions[subscription.id] ?? 0 < subscription.version else { return false }
            versions[subscription.id] = subscription.version
            return true
        }
        _ = try write(new, on: connection)
        return new
    }

    /// Writes the newest subscriptions of changes, unless newer versions of them are there.
    ///
    /// - Returns: The subscriptions that were written.
    private static func write(
        _ changes: [SubscriptionChanged],
        on connection: isolated PostgresConnection
    ) throws -> Set<TransactionID> {
        guard !changes.isEmpty else { return [] }
        let rows = Subscription.newest(of: changes.map(\.subscription))
        let written = try connection.query(
            """
            INSERT INTO subscriptions AS known (id, account_id, bundle_id, version, data)
            SELECT * FROM unnest(
                \(rows.map(\.id.number)), \(rows.map(\.accountID)), \(rows.map(\.bundleID)),
                \(rows.map { Int32($0.version) }), \(rows.map(PostgresJSON.init(plain:))))
            ON CONFLICT (id) DO UPDATE SET version = excluded.version, data = excluded.data
            WHERE known.version < excluded.version
            RETURNING known.id
            """
        )
        return Set(try written.map { TransactionID(number: try $0.decode(Int64.self)) })
    }

    /// Locks subscriptions until the end of the database transaction, and returns their versions.
    private static func lock(
        _ ids: Set<TransactionID>,
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID: Int] {
        let rows = try connection.query(
            """
            SELECT id, version FROM subscriptions WHERE id = ANY(\(ids.map(\.number)))
            ORDER BY id FOR NO KEY UPDATE
            """
        )
        var versions: [TransactionID: Int] = [:]
        for row in rows {
            let (id, version) = try row.decode(Int64.self, Int32.self)
            versions[TransactionID(number: id)] = Int(version)
        }
        return versions
    }

    /// Returns when the last notification about each subscription was signed.
    static func lastNotified(
        _ ids: Set<TransactionID>,
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID: StoreTime] {
        let rows = try connection.query(
            """
            SELECT id, notified_at FROM subscriptions
            WHERE id = ANY(\(ids.map(\.number))) AND notified_at IS NOT NULL
            """
        )
        var times: [TransactionID: StoreTime] = [:]
        for row in rows {
            let (id, time) = try row.decode(Int64.self, StoreTime.self)
            times[TransactionID(number: id)] = time
        }
        return times
    }

    /// Returns when the next notification about a subscription is signed, and records it.
    ///
    /// The newest notification has the latest date, even if the store's clock stands (rule S250).
    static func noteNotification(
        about id: TransactionID,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> StoreTime {
        let last = try lastNotified([id], on: connection)[id]
        let time = max(now, last?.advanced(by: .milliseconds(1)) ?? now)
        try record(lastNotified: [id: time], on: connection)
        return time
    }

    /// Records when the last notification about each subscription was signed.
    static func record(
        lastNotified times: [TransactionID: StoreTime],
        on connection: isolated PostgresConnection
    ) throws {
        let times = times.sorted { $0.key < $1.key }
        try connection.enqueue(
            """
            UPDATE subscriptions SET notified_at = sent.notified_at
            FROM unnest(\(times.map(\.key.number)), \(times.map(\.value)))
                AS sent (id, notified_at)
            WHERE subscriptions.id = sent.id
            """
        )
    }

    /// Reads a subscription by the id of its first transaction; `nil` if there is none.
    static func load(
        _ id: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> Subscription? {
        try connection.query("SELECT data FROM subscriptions WHERE id = \(id.number)").first
            .map { try $0.decode(PostgresJSON.self).decodePlain(Subscription.self) }
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
        ).map { try $0.decode(PostgresJSON.self).decodePlain(Subscription.self) }
    }
}

import Callbacks
import EventTypes
import Messaging
import Postgres
import StoreAPI

/// The SQL of notifications: adding them, leasing them, and recording their tries.
enum NotificationStore {
    /// Returns the endpoints of apps that have one.
    static func endpoints(
        of bundles: Set<BundleID>,
        on connection: isolated PostgresConnection
    ) throws -> [BundleID: NotificationEndpoint] {
        let rows = try connection.query(
            """
            SELECT bundle_id, url FROM notification_endpoints
            WHERE bundle_id = ANY(\(Array(bundles)))
            """
        )
        var endpoints: [BundleID: NotificationEndpoint] = [:]
        for row in rows {
            let (bundleID, url) = try row.decode(BundleID.self, String.self)
            endpoints[bundleID] = NotificationEndpoint(bundleID: bundleID, url: url)
        }
        return endpoints
    }

    /// Stores the endpoint of a merchant's server.
    static func save(
        _ endpoint: NotificationEndpoint,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            INSERT INTO notification_endpoints (bundle_id, url, host, changed_at)
            VALUES (\(endpoint.bundleID), \(endpoint.url),
                \(EndpointAddress.host(of: endpoint.url)), \(now))
            ON CONFLICT (bundle_id) DO UPDATE
            SET url = excluded.url, host = excluded.host, changed_at = excluded.changed_at
            """
        )
    }

    /// Removes the endpoint of a merchant's server.
    ///
    /// Pending notifications wait for another one.
    static func deleteEndpoint(
        of bundle: BundleID,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            "DELETE FROM notification_endpoints WHERE bundle_id = \(bundle)"
        )
    }

    /// Returns the receipts of an app's transactions, for notifications about them.
    static func receipts(
        of transactions: Set<TransactionID>,
        in bundle: BundleID,
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID: ServerAPIStore.StoredReceipt] {
        let rows = try connection.query(
            """
            SELECT transaction_id, leaf_sha256, header, payload, signature
            FROM signed_transactions JOIN signing_chains ON number = signing_chain
            JOIN app_transactions USING (app_transaction_id)
            WHERE transaction_id = ANY(\(transactions.map(\.number))) AND bundle_id = \(bundle)
            """
        )
        var receipts: [TransactionID: ServerAPIStore.StoredReceipt] = [:]
        for row in rows {
            let (number, leaf, header, payload, signature) = try row.decode(
                Int64.self,
                [UInt8].self,
                String.self,
                [UInt8].self,
                [UInt8].self
            )
            receipts[TransactionID(number: number)] = ServerAPIStore.StoredReceipt(
                leafSHA256: leaf,
                header: header,
                payload: try PackedPayload.unpacked(payload),
                signature: signature
            )
        }
        return receipts
    }

    /// Returns the machines' time at which an app's `count`th newest test was asked for, or `nil` if
    /// there are fewer.
    ///
    /// It locks the app's endpoint, so no other test of the app proceeds until the end of the
    /// database transaction.
    static func test(
        _ count: Int,
        of bundle: BundleID,
        on connection: isolated PostgresConnection
    ) throws -> MachineTime? {
        _ = try connection.query(
            "SELECT FROM notification_endpoints WHERE bundle_id = \(bundle) FOR UPDATE"
        )
        let rows = try connection.query(
            """
            SELECT asked_at FROM notifications
            WHERE bundle_id = \(bundle) AND type = 'TEST' AND type <> 'ONE_TIME_CHARGE'
            ORDER BY xid DESC, position DESC OFFSET \(Int64(count - 1)) LIMIT 1
            """
        )
        guard let row = rows.first else { return nil }
        return try row.decode(MachineTime?.self)
    }

    /// Adds notifications that are due at once.
    ///
    /// Unless it was requested, a notification is not added if its transaction has one of its type
    /// and occurrence.
    static func insert(
        _ notifications: [SignedNotification],
        dueAt now: MachineTime,
        chainNumber: Int32,
        on connection: isolated PostgresConnection
    ) throws {
        guard !notifications.isEmpty else { return }
        try connection.enqueue(
            """
            INSERT INTO notifications (id, bundle_id, type, subtype, transaction_id,
                occurrence, is_asked_for, asked_at, signed_at, signing_chain, payload, signature,
                next_attempt_at)
            SELECT id, bundle_id, type, subtype, transaction_id, occurrence, is_asked_for,
                CASE WHEN is_asked_for THEN \(now)::timestamptz END, signed_at, \(chainNumber),
                payload, signature, \(now)
            FROM unnest(
                \(notifications.map(\.id)), \(notifications.map(\.bundleID)),
                \(notifications.map(\.kind.type)), \(notifications.map(\.kind.subtype)),
                \(notifications.map { $0.transactionID?.number }),
                \(notifications.map(\.occurrence)), \(notifications.map(\.isAskedFor)),
                \(notifications.map(\.signedAt)),
                \(notifications.map(\.payload)), \(notifications.map(\.signature))
            ) AS new (id, bundle_id, type, subtype, transaction_id, occurrence, is_asked_for,
                signed_at, payload, signature)
            ON CONFLICT (transaction_id, type, occurrence) WHERE NOT is_asked_for DO NOTHING
            """
        )
    }

    /// Leases notifications that are due.
    ///
    /// Each becomes due again only after the lease.
    ///
    /// It reads app by app, each from its oldest, so the backlog of an app without an endpoint
    /// costs nothing.
    static func lease(
        limit: Int,
        excluding hosts: [String],
        now: MachineTime,
        until lease: MachineTime,
        on connection: isolated PostgresConnection
    ) throws -> [OutgoingNotification] {
        let rows = try connection.query(
            """
            WITH due AS MATERIALIZED (
                SELECT pending.position, url, host
                FROM notification_endpoints AS endpoint CROSS JOIN LATERAL (
                    SELECT position, next_attempt_at FROM notifications
                    WHERE notifications.bundle_id = endpoint.bundle_id AND state = 'pending'
                        AND next_attempt_at <= \(now)
                    ORDER BY next_attempt_at, position
                    LIMIT \(limit)
                    FOR UPDATE SKIP LOCKED
                ) AS pending
                WHERE host <> ALL(\(hosts))
                ORDER BY pending.next_attempt_at, pending.position
                LIMIT \(limit)
            ), leased AS (
                UPDATE notifications
                SET attempts = attempts + 1, next_attempt_at = \(lease)
                FROM due WHERE notifications.position = due.position
                RETURNING id, attempts, url, host, signing_chain, payload, signature,
                    notifications.position
            )
            SELECT id, attempts, url, host, leaf_sha256, header, payload, signature
            FROM leased JOIN signing_chains ON number = signing_chain
            ORDER BY position
            """
        )
        return try rows.map { row in
            let (id, attempts, url, host, leaf, header, payload, signature) = try row.decode(
                EventID.self,
                Int32.self,
                String.self,
                String.self,
                [UInt8].self,
                String.self,
                [UInt8].self,
                [UInt8].self
            )
            return OutgoingNotification(
                id: id,
                attempt: Int(attempts),
                url: url,
                host: host,
                content: StoredNotification(
                    leafSHA256: leaf,
                    header: header,
                    payload: payload,
                    signature: signature
                )
            )
        }
    }

    /// Returns the time at which the next notification is due, or `nil` if none is due to an app
    /// with an endpoint.
    static func nextDue(on connection: isolated PostgresConnection) throws -> MachineTime? {
        let rows = try connection.query(
            """
            SELECT min(pending.next_attempt_at)
            FROM notification_endpoints AS endpoint CROSS JOIN LATERAL (
                SELECT next_attempt_at FROM notifications
                WHERE notifications.bundle_id = endpoint.bundle_id AND state = 'pending'
                ORDER BY next_attempt_at, position LIMIT 1
            ) AS pending
            """
        )
        guard let row = rows.first else { return nil }
        return try row.decode(MachineTime?.self)
    }

    /// Records the outcomes of tries.
    ///
    /// A confirmation counts from any try. A failure counts only for the newest.
    static func record(
        _ attempts: [NotificationAttempt],
        on connection: isolated PostgresConnection
    ) throws {
        try connection.enqueue(
            """
            INSERT INTO notification_attempts (notification_id, attempt, attempted_at, result)
            SELECT * FROM unnest(
                \(attempts.map(\.id)), \(attempts.map { Int32($0.attempt) }),
                \(attempts.map(\.time)), \(attempts.map(\.result.rawValue))
            )
            ON CONFLICT (notification_id, attempt) DO NOTHING
            """
        )
        try connection.enqueue(
            """
            UPDATE notifications
            SET next_attempt_at = tried.next_attempt_at,
                state = CASE WHEN tried.is_confirmed THEN 'confirmed'
                    WHEN tried.next_attempt_at IS NULL THEN 'given_up' ELSE 'pending' END
            FROM unnest(
                \(attempts.map(\.id)), \(attempts.map { Int32($0.attempt) }),
                \(attempts.map { $0.result == .success }), \(attempts.map(\.nextAttemptAt))
            ) AS tried (id, attempt, is_confirmed, next_attempt_at)
            WHERE notifications.id = tried.id AND state = 'pending'
                AND (tried.is_confirmed OR notifications.attempts = tried.attempt)
            """
        )
    }
}

import Callbacks
import EventTypes
import Messaging
import Postgres

/// The SQL of notifications that were sent: an app's history, and one notification with its tries.
enum NotificationHistoryStore {
    /// The tolerance for the difference of the instances' clocks, and for the time until a
    /// notification is in the log.
    private static let tolerance = Duration.seconds(3600)

    /// Returns the part of the log that may contain the query's time range, according to the marks.
    static func bounds(
        of query: NotificationHistoryQuery,
        on connection: isolated PostgresConnection
    ) throws -> NotificationLogBounds {
        let start = query.start.advanced(by: .zero - tolerance)
        let end = query.end.advanced(by: tolerance)
        let rows = try connection.query(
            """
            SELECT
                (SELECT settled_before FROM notification_marks
                    WHERE at <= \(start) ORDER BY at DESC LIMIT 1),
                (SELECT begun_before FROM notification_marks
                    WHERE at >= \(end) ORDER BY at LIMIT 1)
            """
        )
        guard let row = rows.first else { return NotificationLogBounds() }
        let (settled, begun) = try row.decode(UInt64?.self, UInt64?.self)
        var bounds = NotificationLogBounds()
        if let settled { bounds.first = settled }
        if let begun { bounds.end = begun }
        return bounds
    }

    /// Returns the next rows of the log that may match, in order.
    static func rows(
        of bundle: BundleID,
        _ query: NotificationHistoryQuery,
        after token: NotificationHistoryToken,
        within bounds: NotificationLogBounds,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [NotificationHistoryPage.Row] {
        let statement = statement(of: bundle, query, after: token, within: bounds, limit: limit)
        return try connection.query(statement).map { row in
            let (xid, position, type, subtype, transaction, signedAt, hasFailed) = try row.decode(
                UInt64.self,
                Int64.self,
                String.self,
                String?.self,
                Int64?.self,
                StoreTime.self,
                Bool.self
            )
            return NotificationHistoryPage.Row(
                token: NotificationHistoryToken(xid: xid, position: position),
                candidate: NotificationHistoryQuery.Candidate(
                    type: type,
                    subtype: subtype,
                    transactionID: transaction.map(TransactionID.init(number:)),
                    signedAt: signedAt,
                    hasFailed: hasFailed
                )
            )
        }
    }

    /// Returns the statement that reads the rows.
    ///
    /// A test puts `prefix` before it to see its plan.
    ///
    /// It returns only rows of database transactions that ended before every running one, ordered
    /// by their numbers. So no row can appear later in front of a page that was read.
    static func statement(
        of bundle: BundleID,
        _ query: NotificationHistoryQuery,
        after token: NotificationHistoryToken,
        within bounds: NotificationLogBounds,
        limit: Int,
        prefix: String = ""
    ) -> SQL {
        let start = max(token, NotificationHistoryToken(xid: bounds.first, position: -1))
        let failed =
            query.onlyFailures
            ? """
            (state = 'given_up' OR EXISTS (
                SELECT FROM notification_attempts AS tried
                WHERE tried.notification_id = notifications.id AND result <> 'SUCCESS'
            ))
            """ : "false"
        let columns =
            "\(prefix) SELECT xid, position, type, subtype, transaction_id, signed_at, \(failed)"
        if let transaction = query.transactionID {
            // Two partial indexes together cover all rows.
            return """
                \(unsafe: columns)
                FROM (
                    SELECT * FROM notifications WHERE NOT is_asked_for
                    UNION ALL SELECT * FROM notifications WHERE is_asked_for
                ) AS notifications
                WHERE transaction_id = \(transaction.number) AND bundle_id = \(bundle)
                    AND (xid, position) > (\(start.xid), \(start.position))
                    AND xid < least(pg_snapshot_xmin(pg_current_snapshot()), \(bounds.end))
                ORDER BY xid, position LIMIT \(Int64(limit))
                """
        }
        if let type = query.type, type != NotificationKind.oneTimeCharge.type {
            return """
                \(unsafe: columns)
                FROM notifications
                WHERE bundle_id = \(bundle) AND type = \(type) AND type <> 'ONE_TIME_CHARGE'
                    AND (xid, position) > (\(start.xid), \(start.position))
                    AND xid < least(pg_snapshot_xmin(pg_current_snapshot()), \(bounds.end))
                ORDER BY xid, position LIMIT \(Int64(limit))
                """
        }
        return """
            \(unsafe: columns)
            FROM notifications
            WHERE bundle_id = \(bundle)
                AND (xid, position) > (\(start.xid), \(start.position))
                AND xid < least(pg_snapshot_xmin(pg_current_snapshot()), \(bounds.end))
            ORDER BY xid, position LIMIT \(Int64(limit))
            """
    }

    /// Returns notifications with their tries, in the order of their positions.
    static func records(
        at positions: [Int64],
        on connection: isolated PostgresConnection
    ) throws -> [NotificationRecord] {
        try records(
            """
            SELECT id, leaf_sha256, header, payload, signature
            FROM unnest(\(positions)) WITH ORDINALITY AS wanted (position, ordinal)
            JOIN notifications USING (position)
            JOIN signing_chains ON number = signing_chain
            ORDER BY ordinal
            """,
            on: connection
        )
    }

    /// Returns a notification of an app with its tries, or `nil` if there is none.
    static func record(
        of id: EventID,
        in bundle: BundleID,
        on connection: isolated PostgresConnection
    ) throws -> NotificationRecord? {
        try records(
            """
            SELECT id, leaf_sha256, header, payload, signature
            FROM notifications JOIN signing_chains ON number = signing_chain
            WHERE id = \(id) AND bundle_id = \(bundle)
            """,
            on: connection
        ).first
    }

    private static func records(
        _ statement: SQL,
        on connection: isolated PostgresConnection
    ) throws -> [NotificationRecord] {
        let found = try connection.query(statement).map { row in
            let (id, leaf, header, payload, signature) = try row.decode(
                EventID.self,
                [UInt8].self,
                String.self,
                [UInt8].self,
                [UInt8].self
            )
            let content = StoredNotification(
                leafSHA256: leaf,
                header: header,
                payload: payload,
                signature: signature
            )
            return (id: id, content: content)
        }
        let attempts = try attempts(of: found.map(\.id), on: connection)
        return found.map {
            NotificationRecord(content: $0.content, attempts: attempts[$0.id] ?? [])
        }
    }

    private static func attempts(
        of ids: [EventID],
        on connection: isolated PostgresConnection
    ) throws -> [EventID: [NotificationRecord.Attempt]] {
        guard !ids.isEmpty else { return [:] }
        let rows = try connection.query(
            """
            SELECT notification_id, attempted_at, result FROM notification_attempts
            WHERE notification_id = ANY(\(ids)) ORDER BY notification_id, attempt
            """
        )
        var attempts: [EventID: [NotificationRecord.Attempt]] = [:]
        for row in rows {
            let (id, time, result) = try row.decode(
                EventID.self,
                StoreTime.self,
                String.self
            )
            attempts[id, default: []].append(
                NotificationRecord.Attempt(
                    time: time,
                    result: CallbackResult(rawValue: result) ?? .other
                )
            )
        }
        return attempts
    }
}

import Callbacks
import EventTypes
import Messaging
import Postgres

/// The SQL of what was sent: the history of an app, and one notification with its tries.
enum NotificationHistoryStore {
    /// A page of the history, the oldest first.
    ///
    /// Only what ended before every database transaction that still runs is shown, in the order of
    /// their numbers: so nothing can come to stand before a page that was read.
    static func page(
        of bundle: BundleID,
        _ query: NotificationHistoryQuery,
        after token: NotificationHistoryToken?,
        on connection: isolated PostgresConnection
    ) throws -> NotificationHistoryPage {
        let after = token ?? NotificationHistoryToken(xid: 0, position: 0)
        // An empty list chooses everything.
        let types = query.type.map { [$0] } ?? []
        let subtypes = query.subtype.map { [$0] } ?? []
        let transactions = query.transactionID.map { [$0.number] } ?? []
        let limit = NotificationHistoryQuery.pageLength + 1
        let statement: SQL = """
            SELECT xid, position, id, header, payload, signature
            FROM notifications JOIN signing_chains ON number = signing_chain
            WHERE bundle_id = \(bundle) AND (xid, position) > (\(after.xid), \(after.position))
                AND xid < pg_snapshot_xmin(pg_current_snapshot())
                AND signed_at >= \(query.start) AND signed_at < \(query.end)
                AND (cardinality(\(types)) = 0 OR type = ANY(\(types)))
                AND (cardinality(\(subtypes)) = 0 OR subtype = ANY(\(subtypes)))
                AND (cardinality(\(transactions)) = 0 OR transaction_id = ANY(\(transactions)))
                AND (NOT \(query.onlyFailures)::boolean OR state = 'given_up' OR EXISTS (
                    SELECT FROM notification_attempts AS tried
                    WHERE tried.notification_id = notifications.id AND result <> 'SUCCESS'
                ))
            ORDER BY xid, position
            LIMIT \(limit)
            """
        let found = try connection.query(statement).map { row in
            let (xid, position, id, header, payload, signature) = try row.decode(
                UInt64.self,
                Int64.self,
                EventID.self,
                String.self,
                [UInt8].self,
                [UInt8].self
            )
            return (
                id: id, token: NotificationHistoryToken(xid: xid, position: position),
                text: NotificationText.signedPayload(
                    header: header,
                    stored: payload,
                    signature: signature
                )
            )
        }
        let shown = found.prefix(NotificationHistoryQuery.pageLength)
        let attempts = try attempts(of: shown.map(\.id), on: connection)
        return NotificationHistoryPage(
            records: shown.map {
                NotificationRecord(signedPayload: $0.text, attempts: attempts[$0.id] ?? [])
            },
            token: shown.last?.token,
            hasMore: found.count > shown.count
        )
    }

    /// A notification of an app with its tries; `nil` if there is none.
    static func record(
        of id: EventID,
        in bundle: BundleID,
        on connection: isolated PostgresConnection
    ) throws -> NotificationRecord? {
        let rows = try connection.query(
            """
            SELECT header, payload, signature
            FROM notifications JOIN signing_chains ON number = signing_chain
            WHERE id = \(id) AND bundle_id = \(bundle)
            """
        )
        guard let row = rows.first else { return nil }
        let (header, payload, signature) = try row.decode(
            String.self,
            [UInt8].self,
            [UInt8].self
        )
        return NotificationRecord(
            signedPayload: NotificationText.signedPayload(
                header: header,
                stored: payload,
                signature: signature
            ),
            attempts: try attempts(of: [id], on: connection)[id] ?? []
        )
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
                Timestamp.self,
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

public import EventTypes
public import Postgres
public import Seals

/// A service's event log, for reading: its outbox, in the order in which it was published.
///
/// The session may be anybody's who may read the table; it writes nothing.
public enum EventLog {
    /// Which rows of a log are read.
    public enum Part: Sendable {
        /// Those that no later commit can add to: rows whose database transaction is younger than
        /// one that is still running are not there yet.
        case settled
        /// All that the session sees: together with what else it sees in the same snapshot, they
        /// are whole.
        case visible
    }

    /// Reads rows after a place.
    ///
    /// - Parameters:
    ///   - cursor: The last row that was read; `OutboxCursor.start` for the oldest.
    ///   - limit: How many rows at most.
    ///   - part: Which rows.
    ///   - types: Events of these types only; all of them if none is named.
    ///   - connection: The session; in one that has begun a snapshot, every call sees one log.
    /// - Returns: The rows, in the order of their places; none at the end of the log.
    /// - Throws: `PostgresError`.
    public static func rows(
        after cursor: OutboxCursor,
        limit: Int,
        part: Part = .settled,
        types: Set<EventType> = [],
        on connection: isolated PostgresConnection
    ) throws -> [OutboxRow] {
        try exactRows(after: cursor, limit: limit, part: part, types: types, on: connection)
            .map(\.row)
    }

    /// Reads the same rows, each with its time as it stands in the table.
    package static func exactRows(
        after cursor: OutboxCursor,
        limit: Int,
        part: Part,
        types: Set<EventType>,
        on connection: isolated PostgresConnection
    ) throws -> [ExactRow] {
        let wanted = types.map(\.rawValue).sorted()
        return try exactRows(
            in: connection.query(
                """
                SELECT xid, position, event_id, type, topic, key, subject, time, traceparent, data
                FROM outbox
                WHERE (xid, position) > (\(cursor.xid), \(cursor.position))
                    AND (\(part == .visible) OR xid < pg_snapshot_xmin(pg_current_snapshot()))
                    AND (cardinality(\(wanted)) = 0 OR type = ANY(\(wanted)))
                ORDER BY xid, position
                LIMIT \(Int64(limit))
                """
            )
        )
    }

    /// The settled rows after a place, each with its time as it stands in the table.
    package static func settledExactRows(
        after cursor: OutboxCursor,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [ExactRow] {
        try exactRows(in: settled(after: cursor, limit: limit, on: connection))
    }

    /// The settled rows after a place, in commit order: those whose database transaction is older
    /// than every one still running, so that no row can appear before them any more.
    static func settledRows(
        after cursor: OutboxCursor,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [OutboxRow] {
        try exactRows(in: settled(after: cursor, limit: limit, on: connection)).map(\.row)
    }

    private static func settled(
        after cursor: OutboxCursor,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> PostgresRows {
        try connection.query(
            """
            SELECT xid, position, event_id, type, topic, key, subject, time, traceparent, data
            FROM outbox
            WHERE (xid, position) > (\(cursor.xid), \(cursor.position))
                AND xid < pg_snapshot_xmin(pg_current_snapshot())
            ORDER BY xid, position
            LIMIT \(Int64(limit))
            """
        )
    }

    /// How many rows of some types there are; for progress.
    public static func count(
        of types: Set<EventType>,
        on connection: isolated PostgresConnection
    ) throws -> Int64 {
        let rows = try connection.query(
            "SELECT count(*) FROM outbox WHERE type = ANY(\(types.map(\.rawValue)))"
        )
        return try rows.first?.decode(Int64.self) ?? 0
    }

    /// Which of some events a consumer has done, by its own inbox.
    ///
    /// - Parameters:
    ///   - ids: The events.
    ///   - consumer: The consumer's group.
    ///   - connection: A session of the consumer's own database.
    /// - Returns: Those of them that it has done.
    /// - Throws: `PostgresError`.
    public static func done(
        _ ids: [EventID],
        by consumer: String,
        on connection: isolated PostgresConnection
    ) throws -> Set<EventID> {
        guard !ids.isEmpty else { return [] }
        let rows = try connection.query(
            """
            SELECT event_id FROM inbox WHERE consumer = \(consumer) AND event_id = ANY(\(ids))
            """
        )
        return Set(try rows.map { try $0.decode(EventID.self) })
    }

    /// Reads rows of `xid, position, event_id, type, topic, key, subject, time, traceparent, data`,
    /// each with its time as it stands in the table: an event has whole milliseconds, and what
    /// somebody wrote there may not.
    package static func exactRows(in rows: PostgresRows) throws -> [ExactRow] {
        try rows.map { row in
            let (xid, position, id, type, topic, key, subject, time, trace, data) =
                try row.decode(
                    UInt64.self,
                    Int64.self,
                    EventID.self,
                    String.self,
                    String.self,
                    String.self,
                    String.self,
                    PostgresTimestamp.self,
                    String?.self,
                    PostgresJSON.self
                )
            let outboxRow = OutboxRow(
                cursor: OutboxCursor(xid: xid, position: position),
                event: OutboxEvent(
                    id: id,
                    type: EventType(rawValue: type),
                    topicName: topic,
                    key: key,
                    subject: subject,
                    time: Timestamp(time),
                    traceparent: trace,
                    data: data.bytes
                )
            )
            return ExactRow(
                row: outboxRow,
                microsecondsSinceEpoch: time.microsecondsSinceEpoch
            )
        }
    }
}

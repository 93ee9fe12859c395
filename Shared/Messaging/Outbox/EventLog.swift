public import EventTypes
public import Postgres
public import Seals

/// Reads a service's event log: its outbox, in the order of publication.
///
/// It writes nothing, and works with any session that may read the table.
public enum EventLog {
    /// The part of a log that is read.
    public enum Part: Sendable {
        /// The rows whose database transaction is older than every running one, and those that are
        /// published. No later commit can add a row before or between them.
        case settled
        /// All rows that the session sees. They are consistent with other data read in the same
        /// snapshot.
        case visible
    }

    /// Reads rows after a place.
    ///
    /// - Parameters:
    ///   - place: The last row that was read; `LogPlace.start` to begin with the oldest.
    ///   - limit: The largest number of rows.
    ///   - part: The part of the log to read.
    ///   - types: The types of events to read; all if empty.
    ///   - connection: The session. If it has begun a snapshot, every call sees the same log.
    /// - Returns: The rows, in the order of their places; none at the end of the log.
    /// - Throws: `PostgresError`, or an error if the data of a row cannot be unpacked.
    public static func rows(
        after place: LogPlace,
        limit: Int,
        part: Part = .settled,
        types: Set<EventType> = [],
        on connection: isolated PostgresConnection
    ) throws -> [OutboxRow] {
        try exactRows(after: place, limit: limit, part: part, types: types, on: connection)
            .map(\.row)
    }

    /// Reads the same rows, each with exactly what the table has.
    package static func exactRows(
        after place: LogPlace,
        limit: Int,
        part: Part = .settled,
        types: Set<EventType> = [],
        on connection: isolated PostgresConnection
    ) throws -> [ExactRow] {
        let wanted = types.map(\.rawValue).sorted()
        return try exactRows(
            in: connection.query(
                """
                SELECT \(unsafe: columns) FROM outbox
                WHERE (xid, position) > (\(place.xid), \(place.position))
                    AND (\(part == .visible) OR \(unsafe: isSettled))
                    AND (cardinality(\(wanted)) = 0 OR type = ANY(\(wanted)))
                ORDER BY xid, position
                LIMIT \(Int64(limit))
                """
            )
        )
    }

    /// The settled rows after a place, and whether the session sees further ones.
    ///
    /// One query finds both. Of the rows that are not settled it reads one: under load there are hundreds of
    /// them at most looks, because some database transaction of the server is always running.
    static func nextRows(
        after place: LogPlace,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> (settled: [OutboxRow], hasMore: Bool) {
        let rows = try connection.query(
            """
            WITH settled AS MATERIALIZED (SELECT outbox_settled() AS place)
            (
                SELECT true AS is_settled, \(unsafe: columns) FROM outbox
                WHERE (xid, position) > (\(place.xid), \(place.position))
                    AND xid < (SELECT place FROM settled)
                ORDER BY xid, position
                LIMIT \(Int64(limit))
            )
            UNION ALL
            (
                SELECT false, \(unsafe: columns) FROM outbox
                WHERE xid >= greatest((SELECT place FROM settled), \(place.xid))
                    AND NOT (xid = \(place.xid) AND position <= \(place.position))
                ORDER BY xid, position
                LIMIT 1
            )
            """
        )
        var settled: [OutboxRow] = []
        settled.reserveCapacity(rows.count)
        for row in rows {
            var columns = try row.columns(11)
            guard try columns.next(Bool.self) else { return (settled, true) }
            settled.append(try exactRow(&columns).row)
        }
        return (settled, settled.count == limit)
    }

    /// The rows after a place that no database transaction of this database can precede any more.
    ///
    /// ``nextRows(after:limit:on:)`` waits for every running database transaction of the server. Those
    /// of the server's other databases cannot append here, and are left out. A look at the server's
    /// locks finds them, so this costs more. One that ends in between counts as one of this database,
    /// and so does one whose database is unknown.
    static func rowsSettledHere(
        after place: LogPlace,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [OutboxRow] {
        let rows = try connection.query(
            """
            WITH others AS MATERIALIZED (
                SELECT locks.transactionid AS number
                FROM pg_locks AS locks JOIN pg_stat_activity AS activity USING (pid)
                WHERE locks.locktype = 'transactionid' AND locks.mode = 'ExclusiveLock'
                    AND locks.granted AND activity.datname <> current_database()
            ),
            settled AS MATERIALIZED (
                SELECT (base + coalesce(
                    (
                        SELECT min(running.number::text::bigint)
                        FROM pg_snapshot_xip(pg_current_snapshot()) AS running (number)
                        WHERE running.number::xid NOT IN (SELECT number FROM others)
                    ),
                    pg_snapshot_xmax(pg_current_snapshot())::text::bigint
                ))::text::xid8 AS place
                FROM outbox_base
            )
            SELECT \(unsafe: columns) FROM outbox
            WHERE (xid, position) > (\(place.xid), \(place.position))
                AND xid < (SELECT place FROM settled)
            ORDER BY xid, position
            LIMIT \(Int64(limit))
            """
        )
        return try exactRows(in: rows).map(\.row)
    }

    /// The condition of a settled row.
    ///
    /// The relay publishes what no database transaction of its own database can precede. That may be
    /// more than the server as a whole has settled, and it is sealed at once.
    private static let isSettled = """
        (xid < (SELECT outbox_settled())
            OR (xid, position) <= (SELECT place.xid, place.position FROM relay_place AS place))
        """

    /// The number of rows of some types, for a progress report.
    public static func count(
        of types: Set<EventType>,
        on connection: isolated PostgresConnection
    ) throws -> Int64 {
        let rows = try connection.query(
            "SELECT count(*) FROM outbox WHERE type = ANY(\(types.map(\.rawValue)))"
        )
        return try rows.first?.decode(Int64.self) ?? 0
    }

    /// The columns of ``exactRows(in:)``, in their order.
    package static let columns =
        "xid, position, event_id, type, topic, key, subject, time, traceparent, data"

    /// Decodes rows of ``columns``, each with exactly what the table has.
    package static func exactRows(in rows: PostgresRows) throws -> [ExactRow] {
        try rows.map { row in
            var columns = try row.columns(10)
            return try exactRow(&columns)
        }
    }

    private static func exactRow(_ columns: inout PostgresColumns) throws -> ExactRow {
        let xid = try columns.next(UInt64.self)
        let position = try columns.next(Int64.self)
        let id = try columns.next(EventID.self)
        let type = try columns.next(String.self)
        let topic = try columns.next(String.self)
        let key = try columns.next(String.self)
        let subject = try columns.next(String.self)
        let time = try columns.next(PostgresTimestamp.self)
        let trace = try columns.next(StoredTrace?.self)
        let data = try columns.next([UInt8].self)
        let outboxRow = OutboxRow(
            place: LogPlace(xid: xid, position: position),
            event: OutboxEvent(
                id: id,
                type: EventType(rawValue: type),
                topicName: topic,
                key: key,
                subject: subject,
                time: StoreTime(time),
                traceparent: trace?.context,
                data: try PackedJSON.unpacked(data)
            )
        )
        return ExactRow(
            row: outboxRow,
            microsecondsSinceEpoch: time.microsecondsSinceEpoch,
            trace: trace?.text
        )
    }
}

import Postgres
import Seals

/// The SQL that counts the events of a log.
enum EventCountStore {
    /// Counts at most a number of events.
    static func count(
        after place: LogPlace,
        limit: Int64,
        on connection: isolated PostgresConnection
    ) throws -> EventCounts {
        // An event of a database transaction that is still running is counted once it is settled.
        let rows = try connection.query(
            """
            SELECT type, count(*) FROM (
                SELECT type FROM outbox
                WHERE (xid, position) > (\(place.xid), \(place.position))
                    AND xid < (SELECT outbox_settled())
                ORDER BY xid, position LIMIT \(limit)
            ) AS events GROUP BY type
            """
        )
        var types: [String: Int] = [:]
        var total: Int64 = 0
        for row in rows {
            let (type, count) = try row.decode(String.self, Int64.self)
            types[type] = Int(count)
            total += count
        }
        guard total > 0 else { return EventCounts(place: place) }
        return EventCounts(
            types: types,
            place: try end(on: connection),
            isCut: total == limit
        )
    }

    /// The place of the last settled event; the start of an empty log.
    static func end(on connection: isolated PostgresConnection) throws -> LogPlace {
        try connection.query(
            """
            SELECT xid, position FROM outbox WHERE xid < (SELECT outbox_settled())
            ORDER BY xid DESC, position DESC LIMIT 1
            """
        ).first.map { row in
            let (xid, position) = try row.decode(UInt64.self, Int64.self)
            return LogPlace(xid: xid, position: position)
        } ?? .start
    }
}

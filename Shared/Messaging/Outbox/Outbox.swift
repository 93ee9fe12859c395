import EventTypes
public import Postgres

/// The only way for an event to leave a service: a row written in the database transaction of the
/// change it reports.
///
/// The table is insert-only and is the service's event log: it is never updated, and it is kept as
/// long as replay is promised. ``OutboxRelay`` publishes it in commit order.
public enum Outbox {
    /// The channel that is notified when a database transaction that appended events commits.
    static let channel = "outbox"

    /// Appends events, in one statement.
    ///
    /// Call it last in the body of the database transaction, in a statement of its own after every
    /// lock is held: the order of two events of one key is the order of their appending. Also, the
    /// notification it sends makes the commit take a lock that all notifying commits share.
    ///
    /// - Parameters:
    ///   - events: The events, in the order in which those of one key happened.
    ///   - connection: The connection whose open database transaction they belong to.
    /// - Throws: `PostgresError`.
    public static func append(
        _ events: [OutboxEvent],
        on connection: isolated PostgresConnection
    ) throws {
        guard !events.isEmpty else { return }
        try connection.execute(
            """
            WITH appended AS (
                INSERT INTO outbox
                    (xid, event_id, type, topic, key, subject, time, traceparent, data)
                SELECT (SELECT outbox_xid()), * FROM unnest(
                    \(events.map(\.id)), \(events.map(\.type.rawValue)), \(events.map(\.topic)),
                    \(events.map(\.key)), \(events.map(\.subject)), \(events.map(\.time)),
                    \(events.map(\.traceparent)), \(events.map { PostgresJSON(bytes: $0.data) })
                )
                RETURNING 1
            )
            SELECT pg_notify(\(channel), '') FROM (SELECT count(*) FROM appended) AS counted
            """
        )
    }
}

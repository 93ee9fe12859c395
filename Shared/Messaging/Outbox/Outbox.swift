import EventTypes
public import Postgres

/// The only way for an event to leave a service: a row that is written in the same database
/// transaction as the change it reports.
///
/// The table is insert-only and is the service's event log. It is never updated, and is stored as
/// long as replay is promised. ``OutboxRelay`` publishes it in commit order.
public enum Outbox {
    /// The channel that PostgreSQL notifies when a database transaction that appended events
    /// commits.
    static let channel = "outbox"

    /// Appends events, in one statement.
    ///
    /// Call it at the end of the database transaction, in a separate statement after every lock is
    /// held: two events of one key are published in the order in which they were appended. The
    /// notification is another reason to call it last, because all commits that notify take one
    /// common lock.
    ///
    /// - Parameters:
    ///   - events: The events. Those of one key are in the order in which they happened.
    ///   - connection: The connection with the open database transaction.
    /// - Throws: `PostgresError`.
    public static func append(
        _ events: [OutboxEvent],
        on connection: isolated PostgresConnection
    ) throws {
        guard !events.isEmpty else { return }
        // Most batches have one value of each of these.
        let types = events.map(\.type.rawValue)
        let topics = events.map(\.topic)
        let times = events.map(\.time)
        try connection.enqueue(
            """
            WITH appended AS (
                INSERT INTO outbox
                    (xid, event_id, type, topic, key, subject, time, traceparent, data)
                SELECT (SELECT outbox_place()), event.id,
                    coalesce(event.type, \(ifEqual: types)),
                    coalesce(event.topic, \(ifEqual: topics)), event.key, event.subject,
                    coalesce(event.time, \(ifEqual: times)), event.traceparent, event.data
                FROM unnest(
                    \(events.map(\.id)), \(unlessEqual: types),
                    \(unlessEqual: topics), \(events.map(\.key)),
                    \(events.map(\.subject)), \(unlessEqual: times),
                    \(events.map { StoredTrace($0.traceparent) }),
                    \(events.map { PackedJSON.packed($0.data) })
                ) AS event (id, type, topic, key, subject, time, traceparent, data)
                RETURNING 1
            )
            SELECT pg_notify(\(channel), '') FROM (SELECT count(*) FROM appended) AS counted
            """
        )
    }
}

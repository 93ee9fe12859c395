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
        guard let first = events.first else { return }
        try connection.enqueue(
            """
            WITH appended AS (
                INSERT INTO outbox
                    (xid, event_id, type, topic, key, subject, time, traceparent, data)
                SELECT (SELECT outbox_place()), event.id,
                    coalesce(event.type, \(first.type.rawValue)),
                    coalesce(event.topic, \(first.topic)), event.key, event.subject,
                    coalesce(event.time, \(first.time)), event.traceparent, event.data
                FROM unnest(
                    \(events.map(\.id)), \(unlessEqual(events.map(\.type.rawValue))),
                    \(unlessEqual(events.map(\.topic))), \(events.map(\.key)),
                    \(events.map(\.subject)), \(unlessEqual(events.map(\.time))),
                    \(events.map { StoredTrace($0.traceparent) }),
                    \(events.map { PackedJSON.packed($0.data) })
                ) AS event (id, type, topic, key, subject, time, traceparent, data)
                RETURNING 1
            )
            SELECT pg_notify(\(channel), '') FROM (SELECT count(*) FROM appended) AS counted
            """
        )
    }

    /// The values of a column, or none if all are equal.
    ///
    /// PostgreSQL fills up the shorter column of an `unnest` with NULLs, and the first value stands
    /// for these.
    private static func unlessEqual<Value: Equatable>(_ values: [Value]) -> [Value] {
        values.allSatisfy { $0 == values[0] } ? [] : values
    }
}

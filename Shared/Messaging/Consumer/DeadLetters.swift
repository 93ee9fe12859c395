import ClockAndIDs
public import EventTypes
import Foundation
import Kafka
public import Postgres
import StoreTracing

/// The events that a consumer could not apply, and the events that wait behind them.
///
/// The first event of a key that cannot be applied is *dead*. Every later event of that key is
/// *parked*: the events of one account stay in order, while other accounts go on. Once the cause is
/// fixed, ``requestRedrive(key:consumer:by:on:)`` makes the consumer apply both kinds, in order. Each
/// is also published to `<topic>.dead-letters` for monitoring.
public enum DeadLetters {
    /// Asks the consumer to apply the dead and parked events of a key again, in order.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - consumer: The consumer.
    ///   - act: Who asks, and why; the events keep the newest one.
    ///   - connection: A connection in a database transaction, as the operator's role.
    /// - Returns: The number of events that wait.
    /// - Throws: `PostgresError`.
    @discardableResult
    public static func requestRedrive(
        key: String,
        consumer: String,
        by act: Act,
        on connection: isolated PostgresConnection
    ) throws -> Int {
        try connection.execute(
            """
            UPDATE dead_letters
            SET redrive_requested_at = now(), act = \(try PostgresJSON(encoding: act))
            WHERE consumer = \(consumer) AND key = \(key) AND state IN ('dead', 'parked')
            """
        )
    }

    /// Counts the events that are dead, and those that are parked.
    ///
    /// Each state is counted by an index and up to the limit. So it costs the same however many events
    /// wait, and a few dead ones are seen behind any number of parked ones.
    ///
    /// - Parameters:
    ///   - limit: The number at which each count stops.
    ///   - connection: A connection.
    /// - Returns: Both numbers.
    /// - Throws: `PostgresError`.
    public static func count(
        upTo limit: Int64,
        on connection: isolated PostgresConnection
    ) throws -> (dead: Int64, parked: Int64) {
        let rows = try connection.query(
            """
            SELECT (
                SELECT count(*) FROM (
                    SELECT state FROM dead_letters WHERE state = 'dead' LIMIT \(limit)
                ) AS dead
            ), (
                SELECT count(*) FROM (
                    SELECT state FROM dead_letters WHERE state = 'parked' LIMIT \(limit)
                ) AS parked
            )
            """
        )
        guard let row = rows.first else { return (0, 0) }
        let (dead, parked) = try row.decode(Int64.self, Int64.self)
        return (dead, parked)
    }

    /// The keys that have a dead or parked event, so that their later events must wait.
    static func blocked(
        _ keys: Set<String>,
        consumer: String
    ) -> PostgresReading<Set<String>> {
        guard !keys.isEmpty else { return PostgresReading(known: []) }
        return PostgresReading(
            """
            SELECT DISTINCT key FROM dead_letters
            WHERE consumer = \(consumer) AND key = ANY(\(Array(keys)))
                AND state IN ('dead', 'parked')
            """
        ) { rows in
            Set(try rows.map { try $0.decode(String.self) })
        }
    }

    /// Records an event that cannot be applied, or that waits behind one that cannot.
    static func record(
        _ event: ReceivedEvent,
        state: State,
        reason: String,
        consumer: String,
        on connection: isolated PostgresConnection
    ) throws {
        let added = try connection.execute(
            """
            INSERT INTO dead_letters
                (consumer, event_id, topic, partition, "offset", key, type, subject, time,
                 traceparent, data, reason, state)
            VALUES (\(consumer), \(event.id), \(event.topic), \(event.partition), \(event.offset),
                \(event.key), \(event.type.rawValue), \(event.subject), \(event.time),
                \(event.traceparent?.description as String?), \(event.data), \(reason),
                \(state.rawValue))
            ON CONFLICT (consumer, event_id) DO NOTHING
            """
        )
        guard added > 0 else { return }
        let letter = DeadLetter(
            consumer: consumer,
            reason: reason,
            state: state.rawValue,
            topic: event.topic,
            partition: event.partition,
            offset: event.offset,
            eventID: event.id,
            eventType: event.type,
            subject: event.subject,
            dataBase64: event.data.count <= publishedBytesMax
                ? Data(event.data).base64EncodedString() : nil
        )
        try Outbox.append(
            [
                OutboxEvent(
                    id: EventID(time: event.time),
                    type: DeadLetter.eventType,
                    topicName: event.topic + ".dead-letters",
                    key: event.key,
                    subject: event.id.description,
                    time: event.time,
                    traceparent: event.traceparent,
                    data: try EventCoding.encode(letter)
                )
            ],
            on: connection
        )
    }

    /// The condition under which a dead or parked event may be applied.
    ///
    /// Either a redrive was requested, or the key has no dead event any more: another instance
    /// parked this event while the redrive of its key was under way.
    private static let mayBeApplied = """
        (letter.redrive_requested_at IS NOT NULL OR NOT EXISTS (
            SELECT 1 FROM dead_letters AS dead
            WHERE dead.consumer = letter.consumer AND dead.key = letter.key
                AND dead.state = 'dead'
        ))
        """

    /// The largest event, in bytes, that is published with its dead letter.
    ///
    /// The table keeps larger ones too.
    private static let publishedBytesMax = 256 * 1024

    /// The events that a consumer could not apply yet.
    enum Waiting {
        /// There are none.
        case nothing
        /// There are some, and nobody has asked to redrive them.
        case letters
        /// There are some to redrive.
        case redrive
    }

    /// Whether this consumer has events to redrive, or others that wait.
    static func waiting(
        consumer: String,
        on connection: isolated PostgresConnection
    ) throws -> Waiting {
        let rows = try connection.query(
            """
            SELECT EXISTS (
                SELECT 1 FROM dead_letters
                WHERE consumer = \(consumer) AND state IN ('dead', 'parked')
            ), EXISTS (
                SELECT 1 FROM dead_letters AS letter
                WHERE consumer = \(consumer) AND state IN ('dead', 'parked')
                    AND \(unsafe: mayBeApplied)
            )
            """
        )
        guard let row = rows.first else { return .nothing }
        let (waits, isRequested) = try row.decode(Bool.self, Bool.self)
        return isRequested ? .redrive : waits ? .letters : .nothing
    }

    /// The events of one key that are to be redriven, oldest first.
    static func nextRedrive(
        consumer: String,
        on connection: isolated PostgresConnection
    ) throws -> [ReceivedEvent] {
        let rows = try connection.query(
            """
            SELECT event_id, type, topic, key, subject, time, traceparent, data, partition, "offset"
            FROM dead_letters
            WHERE consumer = \(consumer) AND state IN ('dead', 'parked') AND key = (
                SELECT key FROM dead_letters AS letter
                WHERE consumer = \(consumer) AND state IN ('dead', 'parked')
                    AND \(unsafe: mayBeApplied)
                ORDER BY redrive_requested_at, id LIMIT 1
            )
            ORDER BY id
            FOR UPDATE
            """
        )
        return try rows.map { row in
            let (id, type, topic, key, subject, time, trace, data, partition, offset) =
                try row.decode(
                    EventID.self,
                    String.self,
                    String.self,
                    String.self,
                    String.self,
                    StoreTime.self,
                    String?.self,
                    [UInt8].self,
                    Int32.self,
                    Int64.self
                )
            return ReceivedEvent(
                id: id,
                type: EventType(rawValue: type),
                topic: topic,
                key: key,
                subject: subject,
                time: time,
                traceparent: trace.flatMap { TraceContext($0) },
                data: data,
                partition: partition,
                offset: offset
            )
        }
    }

    /// Marks events as applied by a redrive.
    static func settle(
        _ ids: [EventID],
        consumer: String,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            UPDATE dead_letters SET state = 'redriven', settled_at = now()
            WHERE consumer = \(consumer) AND event_id = ANY(\(ids))
            """
        )
    }

    /// Withdraws the request of a redrive that failed again, and stores the reason.
    ///
    /// The first waiting event of the key becomes the dead one, if it was only parked.
    static func refuseRedrive(
        key: String,
        reason: String,
        consumer: String,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            WITH first AS (
                SELECT min(id) AS id FROM dead_letters
                WHERE consumer = \(consumer) AND key = \(key) AND state IN ('dead', 'parked')
            )
            UPDATE dead_letters AS letter SET redrive_requested_at = NULL,
                reason = CASE WHEN state = 'dead' OR letter.id = first.id
                    THEN \(reason) ELSE reason END,
                state = CASE WHEN letter.id = first.id THEN 'dead' ELSE state END
            FROM first
            WHERE consumer = \(consumer) AND key = \(key) AND state IN ('dead', 'parked')
            """
        )
    }

    /// The reason why an event waits here.
    enum State: String {
        case dead
        case parked
    }
}

/// `dead-letter.recorded.v1`: an event could not be applied.
///
/// It carries all that an investigation needs.
struct DeadLetter: Event {
    static let eventType = EventType(rawValue: "dead-letter.recorded.v1")

    let consumer: String
    let reason: String
    let state: String
    let topic: String
    let partition: Int32
    let offset: Int64
    let eventID: EventID
    let eventType: EventType
    let subject: String
    /// The event's data; `nil` if it is too large to be published.
    let dataBase64: String?
}

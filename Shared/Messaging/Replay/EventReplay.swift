public import EventTypes
public import Kafka
public import Postgres
public import Seals

/// Sends events of a log to their topics again, under their original ids and places, so that
/// every consumer recognises the events it has already applied.
///
/// The messages are marked as a replay. They come at the end of a partition but have older places,
/// so they do not move any consumer's place in its producer's log. An ``EventTail`` ignores them,
/// and their epoch is not compared with that of the broker's log. A replay can be meant for one
/// consumer; the others then skip it. Its events are in order with the other messages of their
/// partition.
public struct EventReplay: Sendable {
    /// The replay's own id.
    public let id: EventID
    /// The service whose log is replayed.
    public let service: String
    /// The number of the broker's log that the service writes.
    public let epoch: Int32
    /// The only consumer for which the replay is meant; `nil` for all.
    public let consumer: String?

    /// Makes a replay.
    ///
    /// - Parameters:
    ///   - id: The replay's own id.
    ///   - service: The service whose log is replayed.
    ///   - epoch: The number of the broker's log that the service writes, from ``epoch(on:)``.
    ///   - consumer: The only consumer for which the replay is meant; `nil` for all.
    public init(id: EventID, service: String, epoch: Int32, consumer: String? = nil) {
        self.id = id
        self.service = service
        self.epoch = epoch
        self.consumer = consumer
    }

    /// The number of the broker's log that a service writes.
    ///
    /// - Parameter connection: A session of the service's database.
    /// - Returns: The number that the service's relay has stored.
    /// - Throws: `PostgresError`, or ``MessagingError`` if the migrations have not run.
    public static func epoch(on connection: isolated PostgresConnection) throws -> Int32 {
        try RelayStore.progress(on: connection).epoch
    }

    /// The place of the event before one in its chain, for ``record(for:previous:)``.
    ///
    /// - Parameters:
    ///   - row: An event of the service's log.
    ///   - connection: A session of the service's database.
    /// - Returns: The place; `nil` in a compacted topic. If the event before it has left the database
    ///   with its month, the event's own place: a consumer then recognises the event, but does not
    ///   apply it, because it cannot know what it lacks.
    /// - Throws: `PostgresError`.
    public static func previous(
        of row: OutboxRow,
        on connection: isolated PostgresConnection
    ) throws -> LogPlace? {
        guard EventChain.isLinked(row.event.topic) else { return nil }
        let chain = EventChain(topic: row.event.topic, key: row.event.key)
        let pageLength = 64
        var before = row.place
        while true {
            let rows = try connection.query(
                """
                SELECT xid, position, key FROM outbox
                WHERE topic = \(chain.topic) AND (xid, position) < (\(before.xid), \(before.position))
                ORDER BY xid DESC, position DESC LIMIT \(Int64(pageLength))
                """
            )
            for found in rows {
                let (xid, position, key) = try found.decode(UInt64.self, Int64.self, String.self)
                before = LogPlace(xid: xid, position: position)
                if EventChain(topic: chain.topic, key: key) == chain { return before }
            }
            guard rows.count < pageLength else { continue }
            let archives = try connection.query("SELECT FROM log_archives WHERE log = 'outbox'")
            return archives.isEmpty ? .start : row.place
        }
    }

    /// The message that carries a replayed event.
    ///
    /// - Parameters:
    ///   - row: The event.
    ///   - previous: The place of the event before it in its chain.
    /// - Returns: The message.
    public func record(for row: OutboxRow, previous: LogPlace?) -> KafkaRecord {
        var record = EventHeaders.record(
            for: row,
            service: service,
            epoch: epoch,
            previous: previous
        )
        record.headers.append(
            KafkaHeader(name: EventHeaders.replay, value: Array(id.description.utf8))
        )
        if let consumer {
            record.headers.append(
                KafkaHeader(name: EventHeaders.replayConsumer, value: Array(consumer.utf8))
            )
        }
        return record
    }
}

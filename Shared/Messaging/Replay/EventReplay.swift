public import EventTypes
public import Kafka
public import Postgres

/// Sends events of a log to their topics again, under their original ids, so that every inbox
/// recognises the events it has already applied.
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

    /// The message that carries a replayed event.
    public func record(for row: OutboxRow) -> KafkaRecord {
        var record = EventHeaders.record(for: row, service: service, epoch: epoch)
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

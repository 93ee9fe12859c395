public import EventTypes
public import Kafka
public import Postgres

/// Sends events of a log to their topics again, under the ids they have always had, so that every
/// inbox recognises what it has done.
///
/// The messages say that they are a replay: they stand at the end of a partition and are of an older
/// place, so no consumer's place in its producer's log moves by them, nobody who only looks on is
/// told of them, and they say nothing about which log of the broker it is. One may be meant for one
/// consumer; the others pass it by, and it is in order with whatever else goes to that consumer.
public struct EventReplay: Sendable {
    /// The replay's own id.
    public let id: EventID
    /// The service whose log it is.
    public let service: String
    /// Which log of the broker the service writes into.
    public let epoch: Int32
    /// The one consumer that it is meant for; `nil` for all.
    public let consumer: String?

    /// Makes a replay.
    ///
    /// - Parameters:
    ///   - id: The replay's own id.
    ///   - service: The service whose log it is.
    ///   - epoch: Which log of the broker the service writes into, from ``epoch(on:)``.
    ///   - consumer: The one consumer that it is meant for.
    public init(id: EventID, service: String, epoch: Int32, consumer: String? = nil) {
        self.id = id
        self.service = service
        self.epoch = epoch
        self.consumer = consumer
    }

    /// Which log of the broker a service writes into.
    ///
    /// - Parameter connection: A session of the service's database.
    /// - Returns: The number that its relay has it by.
    /// - Throws: `PostgresError`, or ``MessagingError`` where the migrations have not run.
    public static func epoch(on connection: isolated PostgresConnection) throws -> Int32 {
        try RelayStore.progress(on: connection).epoch
    }

    /// The message that carries an event again.
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

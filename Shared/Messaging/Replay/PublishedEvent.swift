import EventTypes
public import Kafka
public import Postgres
public import Seals

/// An event as it is on the broker: the row of its producer's log from which it was published, and
/// the position of its message.
public struct PublishedEvent: Sendable {
    /// The service that published it.
    public let service: String
    /// The row, as the message carries it.
    public let row: OutboxRow
    /// Whether it was sent by ``EventReplay``.
    public let isReplayed: Bool
    /// The position of its message: `topic/partition/offset`.
    public let place: String

    /// Reads a message.
    ///
    /// - Throws: ``MessagingError`` with the position of the message, if it is not an event of a
    ///   store.
    public init(_ message: KafkaMessage) throws(MessagingError) {
        place = "\(message.topic)/\(message.partition)/\(message.offset)"
        let source = message.headers.first { $0.name == EventHeaders.source }?.value
        switch EventHeaders.event(in: message) {
        case .failure(let problem):
            throw MessagingError(.notAnEvent, "\(problem.reason), at \(place)")
        case .success(let event):
            guard let source, event.place != .start else {
                throw MessagingError(
                    .notAnEvent,
                    "the message does not name its log and its place there, at \(place)"
                )
            }
            service = String(decoding: source, as: UTF8.self)
            isReplayed = event.isReplayed
            row = OutboxRow(
                place: event.place,
                event: OutboxEvent(
                    id: event.id,
                    type: event.type,
                    topicName: event.topic,
                    key: event.key,
                    subject: event.subject,
                    time: event.time,
                    traceparent: event.traceparent,
                    data: event.data
                )
            )
        }
    }

    /// The ends of a service's topics, as the broker confirmed them to the service's relay.
    ///
    /// Some brokers report the end of a partition too low, but a confirmed message is stored.
    ///
    /// - Parameter connection: A session of the service's database.
    /// - Returns: The newest offset of each partition that has messages, and the place in the log
    ///   up to which everything is published.
    /// - Throws: `PostgresError`, or ``MessagingError`` if the migrations have not run.
    public static func ends(
        on connection: isolated PostgresConnection
    ) throws -> (offsets: [KafkaTopicPartition: Int64], published: LogPlace) {
        let progress = try RelayStore.progress(on: connection)
        return (progress.lastOffsets, progress.published)
    }
}

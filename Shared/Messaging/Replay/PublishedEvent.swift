import EventTypes
public import Kafka
public import Postgres
public import Seals

/// An event as the broker has it: the row of its producer's log that it was published from, and where
/// it stands.
public struct PublishedEvent: Sendable {
    /// The service that published it.
    public let service: String
    /// The row, as the message carries it.
    public let row: OutboxRow
    /// Whether it was sent again by ``EventReplay``.
    public let isReplayed: Bool
    /// Where it stands: `topic/partition/offset`.
    public let place: String

    /// Reads a message.
    ///
    /// - Throws: ``MessagingError`` that names the place, if it is no event of a store.
    public init(_ message: KafkaMessage) throws(MessagingError) {
        place = "\(message.topic)/\(message.partition)/\(message.offset)"
        let source = message.headers.first { $0.name == EventHeaders.source }?.value
        switch EventHeaders.event(in: message) {
        case .failure(let problem):
            throw MessagingError(.notAnEvent, "\(problem.reason), at \(place)")
        case .success(let event):
            guard let source, event.cursor != .start else {
                throw MessagingError(
                    .notAnEvent,
                    "the message does not say where in whose log it stands, at \(place)"
                )
            }
            service = String(decoding: source, as: UTF8.self)
            isReplayed = event.isReplayed
            row = OutboxRow(
                cursor: event.cursor,
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

    /// Where a service's topics end, as its relay knows it by the broker's own confirmations.
    ///
    /// What a broker says of its end may be too low; what it has confirmed is there.
    ///
    /// - Parameter connection: A session of the service's database.
    /// - Returns: The newest offset of each partition that something was published into, and the place
    ///   of the log up to which everything is.
    /// - Throws: `PostgresError`, or ``MessagingError`` where the migrations have not run.
    public static func ends(
        on connection: isolated PostgresConnection
    ) throws -> (offsets: [KafkaTopicPartition: Int64], published: OutboxCursor) {
        let progress = try RelayStore.progress(on: connection)
        return (progress.lastOffsets, progress.published)
    }
}

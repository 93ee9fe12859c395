public import EventTypes
public import Postgres
public import Seals

/// Tells which events of a log a consumer has applied, from the places in its own database.
public enum AppliedEvents {
    /// An event of a log.
    public struct Entry: Hashable, Sendable {
        /// The event's id.
        public let id: EventID
        /// The chain to which it belongs.
        public let chain: EventChain
        /// Its place in the log.
        public let place: LogPlace

        /// Makes an entry.
        public init(id: EventID, topic: String, key: String, place: LogPlace) {
            self.id = id
            self.chain = EventChain(topic: topic, key: key)
            self.place = place
        }

        /// Makes the entry of a row of a log.
        public init(_ row: OutboxRow) {
            self.init(
                id: row.event.id,
                topic: row.event.topic,
                key: row.event.key,
                place: row.place
            )
        }
    }

    /// The events among some that a consumer has applied.
    ///
    /// - Parameters:
    ///   - entries: Events of types that the consumer acts on.
    ///   - consumer: The consumer's group.
    ///   - connection: A session of the consumer's own database.
    /// - Returns: The ids of the events that it has applied. Dead letters and parked events are not
    ///   among them.
    /// - Throws: `PostgresError`.
    public static func among(
        _ entries: [Entry],
        by consumer: String,
        on connection: isolated PostgresConnection
    ) throws -> Set<EventID> {
        guard !entries.isEmpty else { return [] }
        let chains = Set(entries.map(\.chain)).sorted()
        let places = try connection.read(ConsumerPlaceStore.reading(chains, consumer: consumer))
        let passed = entries.filter { $0.place <= places[$0.chain] ?? .start }.map(\.id)
        let letters = try connection.query(
            """
            SELECT event_id FROM dead_letters
            WHERE consumer = \(consumer) AND event_id = ANY(\(passed)) AND state <> 'redriven'
            """
        ).map { try $0.decode(EventID.self) }
        return Set(passed).subtracting(letters)
    }
}

import EventTypes
import Kafka
import Postgres
import Seals

/// The SQL of a consumer: how far it has come in each chain, and where it reads each partition on.
enum ConsumerPlaceStore {
    /// The offset from which a consumer reads a partition on, with the epoch of its last read.
    struct Position: Hashable, Sendable {
        var epoch: Int32
        var nextOffset: Int64
        var eventTime: StoreTime
    }

    /// Reads the places of chains, and locks them until the end of the database transaction.
    ///
    /// Another member of the group, or one that lost its partitions and does not know it yet, waits
    /// here and then sees what was applied.
    ///
    /// - Parameters:
    ///   - chains: The chains.
    ///   - consumer: The consumer.
    ///   - question: A query that sees what was committed before the lock was there. It takes no
    ///     round trip of its own.
    ///   - connection: The connection with the open database transaction.
    /// - Returns: The places, and the answer to the query.
    /// - Throws: `PostgresError`.
    static func lock<Answer>(
        _ chains: Set<EventChain>,
        consumer: String,
        then question: PostgresReading<Answer>,
        on connection: isolated PostgresConnection
    ) throws -> (AppliedPlaces, Answer) {
        let chains = chains.sorted()
        let locking = reading(chains, consumer: consumer, isLocking: true)
        let (places, answer) = try connection.read(locking, question)
        guard places.count < chains.count else { return (AppliedPlaces(places), answer) }
        // A row must exist before it can be locked.
        try connection.enqueue(
            """
            INSERT INTO consumer_places (consumer, topic, chain)
            SELECT \(consumer), * FROM unnest(\(chains.map(\.topic)), \(chains.map(\.name)))
            ON CONFLICT DO NOTHING
            """
        )
        let (all, later) = try connection.read(locking, question)
        return (AppliedPlaces(all), later)
    }

    /// Reads the places of chains.
    static func reading(
        _ chains: [EventChain],
        consumer: String,
        isLocking: Bool = false
    ) -> PostgresReading<[EventChain: LogPlace]> {
        PostgresReading(
            """
            SELECT topic, chain, xid, position FROM consumer_places
            WHERE consumer = \(consumer) AND (topic, chain) IN (
                SELECT * FROM unnest(\(chains.map(\.topic)), \(chains.map(\.name)))
            )
            ORDER BY topic, chain \(unsafe: isLocking ? "FOR UPDATE" : "")
            """
        ) { rows in
            var places: [EventChain: LogPlace] = [:]
            for row in rows {
                let (topic, name, xid, position) = try row.decode(
                    String.self,
                    String.self,
                    UInt64.self,
                    Int64.self
                )
                places[EventChain(topic: topic, name: name)] = LogPlace(
                    xid: xid,
                    position: position
                )
            }
            return places
        }
    }

    /// Stores the places that have moved, and where each partition is read on, in the database
    /// transaction of the effect.
    static func save(
        _ places: AppliedPlaces,
        _ positions: [KafkaTopicPartition: Position],
        consumer: String,
        on connection: isolated PostgresConnection
    ) throws {
        let chains = places.moved.sorted()
        let newest = chains.map { places.places[$0] ?? .start }
        let partitions = positions.sorted {
            ($0.key.topic, $0.key.partition) < ($1.key.topic, $1.key.partition)
        }
        guard !chains.isEmpty || !partitions.isEmpty else { return }
        try connection.enqueue(
            """
            WITH moved AS (
                UPDATE consumer_places AS place SET xid = moved.xid, position = moved.position
                FROM unnest(
                    \(chains.map(\.topic)), \(chains.map(\.name)),
                    \(newest.map(\.xid)), \(newest.map(\.position))
                ) AS moved (topic, chain, xid, position)
                WHERE place.consumer = \(consumer)
                    AND place.topic = moved.topic AND place.chain = moved.chain
            )
            INSERT INTO consumer_positions
                (consumer, topic, partition, epoch, next_offset, event_time)
            SELECT \(consumer), * FROM unnest(
                \(partitions.map(\.key.topic)), \(partitions.map(\.key.partition)),
                \(partitions.map(\.value.epoch)), \(partitions.map(\.value.nextOffset)),
                \(partitions.map(\.value.eventTime))
            )
            ON CONFLICT (consumer, topic, partition) DO UPDATE SET
                epoch = excluded.epoch, next_offset = excluded.next_offset,
                event_time = excluded.event_time
            WHERE consumer_positions.epoch <= excluded.epoch
            """
        )
    }

    /// Reads the places from which a consumer reads its partitions on.
    static func positions(
        consumer: String,
        on connection: isolated PostgresConnection
    ) throws -> [KafkaTopicPartition: Position] {
        let rows = try connection.query(
            """
            SELECT topic, partition, epoch, next_offset, event_time FROM consumer_positions
            WHERE consumer = \(consumer)
            """
        )
        var positions: [KafkaTopicPartition: Position] = [:]
        for row in rows {
            let (topic, partition, epoch, offset, time) = try row.decode(
                String.self,
                Int32.self,
                Int32.self,
                Int64.self,
                StoreTime.self
            )
            positions[KafkaTopicPartition(topic: topic, partition: partition)] = Position(
                epoch: epoch,
                nextOffset: offset,
                eventTime: time
            )
        }
        return positions
    }
}

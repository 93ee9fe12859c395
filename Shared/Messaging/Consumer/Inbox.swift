import EventTypes
import Kafka
import Postgres
import Seals

/// The SQL of a consumer: the events it has applied, and how far it has read.
enum Inbox {
    /// Marks events as applied by a consumer, in the database transaction of their effect.
    ///
    /// - Returns: The ids that were not marked before. Only these events still have to be applied.
    static func insert(
        _ ids: [EventID],
        consumer: String,
        on connection: isolated PostgresConnection
    ) throws -> Set<EventID> {
        guard !ids.isEmpty else { return [] }
        let rows = try connection.query(
            """
            INSERT INTO inbox (consumer, event_id)
            SELECT \(consumer), * FROM unnest(\(ids))
            ON CONFLICT DO NOTHING
            RETURNING event_id
            """
        )
        return Set(try rows.map { try $0.decode(EventID.self) })
    }

    /// Stores how far each partition has been read, as a place in its producer's log.
    ///
    /// A place never goes back within an epoch. A crash, or a relay that has lost its lead, may
    /// publish an event twice; the second message then has an older place.
    static func savePositions(
        _ newest: [KafkaTopicPartition: ReceivedEvent],
        consumer: String,
        on connection: isolated PostgresConnection
    ) throws {
        guard !newest.isEmpty else { return }
        let places = newest.sorted {
            ($0.key.topic, $0.key.partition) < ($1.key.topic, $1.key.partition)
        }
        try connection.execute(
            """
            INSERT INTO consumer_positions
                (consumer, topic, partition, epoch, xid, position, event_time)
            SELECT \(consumer), * FROM unnest(
                \(places.map(\.key.topic)), \(places.map(\.key.partition)),
                \(places.map(\.value.epoch)), \(places.map(\.value.cursor.xid)),
                \(places.map(\.value.cursor.position)), \(places.map(\.value.time))
            )
            ON CONFLICT (consumer, topic, partition) DO UPDATE SET
                epoch = excluded.epoch, xid = excluded.xid, position = excluded.position,
                event_time = excluded.event_time
            WHERE consumer_positions.epoch <> excluded.epoch
                OR (consumer_positions.xid, consumer_positions.position)
                    < (excluded.xid, excluded.position)
            """
        )
    }

    /// The epoch in which each partition of a consumer's topics was last read.
    static func epochs(
        consumer: String,
        on connection: isolated PostgresConnection
    ) throws -> [KafkaTopicPartition: Int32] {
        let rows = try connection.query(
            "SELECT topic, partition, epoch FROM consumer_positions WHERE consumer = \(consumer)"
        )
        var epochs: [KafkaTopicPartition: Int32] = [:]
        for row in rows {
            let (topic, partition, epoch) = try row.decode(String.self, Int32.self, Int32.self)
            epochs[KafkaTopicPartition(topic: topic, partition: partition)] = epoch
        }
        return epochs
    }
}

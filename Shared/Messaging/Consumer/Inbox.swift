import EventTypes
import Kafka
import Postgres
import Seals

/// The SQL of a consumer: what it has done, and how far it is.
enum Inbox {
    /// Marks events as done by a consumer, in the database transaction of their effect.
    ///
    /// - Returns: The ids that were not marked before; the effect is owed for these only.
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

    /// Keeps the newest place of each partition in its producer's log.
    ///
    /// A place never goes back within an epoch: what is published twice, after a crash or by a relay
    /// that has lost its lead, is of an older place.
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

    /// The epoch that each partition of a consumer's topics was last read in.
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

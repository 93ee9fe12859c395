import Kafka
import Postgres

/// A batch of events under the locks of their event chains, with the verdict on each.
struct JudgedBatch: Sendable {
    /// The events to apply, in order; each once.
    private(set) var due: [ReceivedEvent] = []
    /// The number of events that are done already.
    private(set) var duplicates = 0
    /// The first offset in each partition of an event whose predecessor is missing.
    private(set) var early: [KafkaTopicPartition: Int64]
    /// Those of the asked keys that have a dead or parked event.
    let blocked: Set<String>
    private var places: AppliedPlaces
    private var positions: [KafkaTopicPartition: ConsumerPlaceStore.Position] = [:]

    /// Locks the chains of events, and judges the events one after the other.
    ///
    /// - Parameters:
    ///   - events: The events, in order within each partition.
    ///   - held: The early events of earlier batches.
    ///   - consumer: The consumer.
    ///   - keys: The keys of which it has to be known whether they are blocked.
    ///   - connection: The connection with the open database transaction.
    /// - Throws: `PostgresError`.
    init(
        _ events: [ReceivedEvent],
        held: [KafkaTopicPartition: Int64],
        consumer: String,
        keys: Set<String> = [],
        on connection: isolated PostgresConnection
    ) throws {
        early = held
        let chains = events.map(\.chain)
        (places, blocked) = try ConsumerPlaceStore.lock(
            Set(chains),
            consumer: consumer,
            then: DeadLetters.blocked(keys, consumer: consumer),
            on: connection
        )
        for (event, chain) in zip(events, chains) {
            let partition = KafkaTopicPartition(topic: event.topic, partition: event.partition)
            switch places.admit(event, of: chain) {
            case .due: due.append(event)
            case .done: duplicates += 1
            // A replay that goes too far promises nothing: the event comes by the log itself.
            case .early where event.isReplayed: break
            case .early: early[partition] = min(early[partition] ?? .max, event.offset)
            }
            guard !event.isReplayed else { continue }
            positions[partition] = ConsumerPlaceStore.Position(
                epoch: event.epoch,
                nextOffset: min(event.offset + 1, early[partition] ?? .max),
                eventTime: event.time
            )
        }
    }

    /// Stores the places that have moved, in the database transaction of the effect.
    func save(consumer: String, on connection: isolated PostgresConnection) throws {
        try ConsumerPlaceStore.save(places, positions, consumer: consumer, on: connection)
    }
}

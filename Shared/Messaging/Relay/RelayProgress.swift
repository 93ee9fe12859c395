import EventTypes
import Kafka
import Seals

/// The progress of a relay: the place up to which it has published, and the place up to which every
/// consumer has confirmed.
///
/// If the broker loses its log, the relay publishes again from the oldest event that a consumer may
/// have missed.
///
/// Pure.
struct RelayProgress: Equatable, Sendable {
    /// The place up to which everything is published.
    private(set) var published: LogPlace
    /// The place up to which every consumer has applied everything.
    private(set) var confirmed: LogPlace
    /// The number of the broker's log that the relay writes.
    private(set) var epoch: Int32
    /// The newest offset of each partition.
    private(set) var lastOffsets: [KafkaTopicPartition: Int64]
    /// The newest event of each chain up to `published`.
    private(set) var tips: ChainTips
    /// The newest event of each chain up to `confirmed`.
    private(set) var confirmedTips: ChainTips
    /// Places between `confirmed` and `published`, oldest first.
    private var checkpoints: [Checkpoint]

    /// A place in the outbox, with the newest offset of each partition when that place was
    /// published.
    private struct Checkpoint: Equatable, Sendable {
        var place: LogPlace
        var lastOffsets: [KafkaTopicPartition: Int64]
        var tips: ChainTips
    }

    /// The largest number of checkpoints.
    ///
    /// More would not make the confirmed place more precise in practice.
    private static let checkpointsMax = 64

    init(
        published: LogPlace,
        confirmed: LogPlace,
        epoch: Int32,
        lastOffsets: [KafkaTopicPartition: Int64],
        tips: ChainTips = ChainTips(),
        confirmedTips: ChainTips = ChainTips()
    ) {
        self.published = published
        self.confirmed = confirmed
        self.epoch = epoch
        self.lastOffsets = lastOffsets
        self.tips = tips
        self.confirmedTips = confirmedTips
        checkpoints =
            confirmed < published
            ? [Checkpoint(place: published, lastOffsets: lastOffsets, tips: tips)] : []
    }

    /// Whether some consumer has not confirmed everything yet.
    var isUnconfirmed: Bool { confirmed < published }

    /// The offsets of a batch in each partition.
    static func offsets(
        of deliveries: [KafkaDelivery],
        for records: [KafkaRecord]
    ) -> [KafkaTopicPartition: ClosedRange<Int64>] {
        var ranges: [KafkaTopicPartition: ClosedRange<Int64>] = [:]
        for (delivery, record) in zip(deliveries, records) {
            let partition = KafkaTopicPartition(
                topic: record.topic,
                partition: delivery.partition
            )
            let range = ranges[partition] ?? delivery.offset...delivery.offset
            ranges[partition] =
                min(range.lowerBound, delivery.offset)...max(range.upperBound, delivery.offset)
        }
        return ranges
    }

    /// Records a batch that the broker has stored.
    ///
    /// - Parameters:
    ///   - place: The place of the last event of the batch.
    ///   - offsets: The offsets of the batch in each partition.
    ///   - tips: The newest event of each chain, the batch included.
    /// - Returns: `false` if an offset is not higher than an earlier one. The broker has then lost
    ///   its log, and the batch is in a new one.
    mutating func publish(
        through place: LogPlace,
        offsets: [KafkaTopicPartition: ClosedRange<Int64>],
        tips: ChainTips = ChainTips()
    ) -> Bool {
        for (partition, range) in offsets {
            if let last = lastOffsets[partition], range.lowerBound <= last {
                return false
            }
        }
        for (partition, range) in offsets {
            lastOffsets[partition] = range.upperBound
        }
        published = place
        self.tips = tips
        if checkpoints.count == Self.checkpointsMax {
            checkpoints.removeLast()
        }
        checkpoints.append(
            Checkpoint(place: place, lastOffsets: lastOffsets, tips: tips)
        )
        return true
    }

    /// Whether a partition that was written is empty, which means that the broker has lost its log.
    ///
    /// An end that is merely lower proves nothing: some brokers count batches rather than messages.
    func isContradicted(byEnds ends: [KafkaTopicPartition: Int64]) -> Bool {
        lastOffsets.contains { partition, last in last >= 0 && ends[partition] == 0 }
    }

    /// Records the offsets that the consumers have committed.
    ///
    /// - Parameters:
    ///   - committed: For each consumer, the next offset it will read, by partition.
    ///   - consumers: The consumers that must confirm each topic.
    mutating func confirm(
        committed: [ServiceName: [KafkaTopicPartition: Int64]],
        consumers: [String: [ServiceName]]
    ) {
        var done = 0
        for checkpoint in checkpoints {
            let isDone = checkpoint.lastOffsets.allSatisfy { partition, last in
                (consumers[partition.topic] ?? []).allSatisfy { consumer in
                    (committed[consumer]?[partition] ?? 0) > last
                }
            }
            guard isDone else { break }
            confirmed = checkpoint.place
            confirmedTips = checkpoint.tips
            done += 1
        }
        checkpoints.removeFirst(done)
    }

    /// The number of published events that each consumer has yet to confirm.
    ///
    /// It is computed from the offsets the broker reported for each event, because some brokers
    /// report the ends of partitions wrongly. It needs no state of its own, so it is as accurate
    /// after a restart as before.
    ///
    /// - Parameters: As of ``confirm(committed:consumers:)``.
    /// - Returns: The count for each consumer of any topic, including 0.
    func lag(
        committed: [ServiceName: [KafkaTopicPartition: Int64]],
        consumers: [String: [ServiceName]]
    ) -> [ServiceName: Int64] {
        var lag = Dictionary(consumers.values.joined().map { ($0, Int64(0)) }) { first, _ in first }
        for (partition, last) in lastOffsets {
            for consumer in consumers[partition.topic] ?? [] {
                let next = committed[consumer]?[partition] ?? 0
                lag[consumer, default: 0] += max(0, last + 1 - max(0, next))
            }
        }
        return lag
    }

    /// Goes back to the oldest event that a consumer may have missed, and begins a new log.
    mutating func restartAfterLoss() {
        published = confirmed
        tips = confirmedTips
        epoch += 1
        lastOffsets = [:]
        checkpoints = []
    }
}

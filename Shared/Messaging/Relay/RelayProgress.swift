import Kafka
import Seals

/// What a relay knows of the log it writes: how far it is published, and how far that is confirmed
/// by every consumer, so that after the broker has lost its log it can begin again no later than
/// the oldest event that a consumer may have missed.
///
/// Pure.
struct RelayProgress: Equatable, Sendable {
    /// Everything up to here is published.
    private(set) var published: OutboxCursor
    /// Everything up to here is done by every consumer.
    private(set) var confirmed: OutboxCursor
    /// Which log of the broker is written into.
    private(set) var epoch: Int32
    /// The newest offset of each partition.
    private(set) var lastOffsets: [KafkaTopicPartition: Int64]
    /// Places on the way from `confirmed` to `published`, oldest first.
    private var checkpoints: [Checkpoint]

    /// A place in the outbox, and where each partition ended when it was published.
    private struct Checkpoint: Equatable, Sendable {
        var cursor: OutboxCursor
        var lastOffsets: [KafkaTopicPartition: Int64]
    }

    /// More checkpoints than this would say more than the consumers' confirmations can use.
    private static let checkpointsMax = 64

    init(
        published: OutboxCursor,
        confirmed: OutboxCursor,
        epoch: Int32,
        lastOffsets: [KafkaTopicPartition: Int64]
    ) {
        self.published = published
        self.confirmed = confirmed
        self.epoch = epoch
        self.lastOffsets = lastOffsets
        checkpoints =
            confirmed < published
            ? [Checkpoint(cursor: published, lastOffsets: lastOffsets)] : []
    }

    /// Whether some consumer has not confirmed everything yet.
    var isUnconfirmed: Bool { confirmed < published }

    /// Takes note of a batch that the broker has stored.
    ///
    /// - Returns: `false` if an offset is not higher than one reported before: the broker has lost
    ///   its log, and the batch stands in a new one.
    mutating func publish(
        through cursor: OutboxCursor,
        offsets: [KafkaTopicPartition: ClosedRange<Int64>]
    ) -> Bool {
        for (partition, range) in offsets {
            if let last = lastOffsets[partition], range.lowerBound <= last {
                return false
            }
        }
        for (partition, range) in offsets {
            lastOffsets[partition] = range.upperBound
        }
        published = cursor
        if checkpoints.count == Self.checkpointsMax {
            checkpoints.removeLast()
        }
        checkpoints.append(Checkpoint(cursor: cursor, lastOffsets: lastOffsets))
        return true
    }

    /// Whether a partition that was written is empty, so that the broker has lost its log.
    ///
    /// An end that is merely lower says nothing: some brokers count batches rather than messages.
    func isContradicted(byEnds ends: [KafkaTopicPartition: Int64]) -> Bool {
        lastOffsets.contains { partition, last in last >= 0 && ends[partition] == 0 }
    }

    /// Takes note of what the consumers have committed.
    ///
    /// - Parameters:
    ///   - committed: For each consumer of a topic, the next offset it will read, by partition.
    ///   - consumers: Who has to confirm each topic.
    mutating func confirm(
        committed: [String: [KafkaTopicPartition: Int64]],
        consumers: [String: [String]]
    ) {
        var done = 0
        for checkpoint in checkpoints {
            let isDone = checkpoint.lastOffsets.allSatisfy { partition, last in
                (consumers[partition.topic] ?? []).allSatisfy { consumer in
                    (committed[consumer]?[partition] ?? 0) > last
                }
            }
            guard isDone else { break }
            confirmed = checkpoint.cursor
            done += 1
        }
        checkpoints.removeFirst(done)
    }

    /// How many published events each consumer has yet to confirm.
    ///
    /// Counted from what the broker reported for each event, not from the ends of partitions, which
    /// some brokers tell wrong. Without memory of its own: as true after a restart as before it.
    ///
    /// - Parameters: As of ``confirm(committed:consumers:)``.
    /// - Returns: The count by consumer; those of all topics, 0 included.
    func lag(
        committed: [String: [KafkaTopicPartition: Int64]],
        consumers: [String: [String]]
    ) -> [String: Int64] {
        var lag = Dictionary(consumers.values.joined().map { ($0, Int64(0)) }) { first, _ in first }
        for (partition, last) in lastOffsets {
            for consumer in consumers[partition.topic] ?? [] {
                let next = committed[consumer]?[partition] ?? 0
                lag[consumer, default: 0] += max(0, last + 1 - max(0, next))
            }
        }
        return lag
    }

    /// Goes back to the oldest event that a consumer may have missed, into a new log.
    mutating func restartAfterLoss() {
        published = confirmed
        epoch += 1
        lastOffsets = [:]
        checkpoints = []
    }
}

import Kafka

/// The offsets of messages that a consumer has applied but not yet committed to the broker.
///
/// The consumer's places decide which events are applied. The broker's offsets only show the next
/// consumer of a partition where to begin reading. The broker writes each commit to its disk. So
/// offsets are not committed after every batch, but a few times a second and whenever no messages
/// come.
///
/// Pure.
struct UncommittedOffsets {
    /// The longest time that offsets are held back while messages come.
    static let interval = Duration.milliseconds(250)

    /// The next offset to read, by partition.
    private(set) var next: [KafkaTopicPartition: Int64] = [:]
    /// Whether the broker did not answer the last commit.
    private(set) var isPostponed = false
    private var dueAt: ContinuousClock.Instant?

    /// Records messages that were applied.
    ///
    /// - Parameters:
    ///   - messages: The messages, in order within each partition.
    ///   - rewound: Partitions that are read from their beginning again. Their recorded offsets are
    ///     dropped.
    ///   - held: Where a partition will be read again. No higher offset is committed.
    ///   - now: The time.
    mutating func add(
        _ messages: [KafkaMessage],
        except rewound: Set<KafkaTopicPartition>,
        holding held: [KafkaTopicPartition: Int64] = [:],
        at now: ContinuousClock.Instant
    ) {
        for message in messages {
            // The latest offset, not the highest: a new log counts from zero again.
            next[message.topicPartition] = message.offset + 1
        }
        for (partition, offset) in held where next[partition] != nil {
            next[partition] = min(next[partition] ?? offset, offset)
        }
        forget(rewound)
        if dueAt == nil, !next.isEmpty { dueAt = now + Self.interval }
    }

    /// Forgets partitions that are now assigned to another consumer.
    mutating func forget(_ partitions: some Sequence<KafkaTopicPartition>) {
        for partition in partitions { next[partition] = nil }
    }

    /// Whether it is time to commit.
    ///
    /// - Parameters:
    ///   - isIdle: Whether the last poll returned no messages.
    ///   - now: The time.
    /// - Returns: Always `false` if there are no offsets to commit.
    func areDue(isIdle: Bool, at now: ContinuousClock.Instant) -> Bool {
        guard !next.isEmpty, let dueAt else { return false }
        return isIdle && !isPostponed || now >= dueAt
    }

    /// Forgets all offsets, because they were committed or never can be.
    mutating func settle() {
        next = [:]
        dueAt = nil
        isPostponed = false
    }

    /// Keeps the offsets for another attempt in a second, because the broker did not answer.
    mutating func postpone(at now: ContinuousClock.Instant) {
        dueAt = now + .seconds(1)
        isPostponed = true
    }
}

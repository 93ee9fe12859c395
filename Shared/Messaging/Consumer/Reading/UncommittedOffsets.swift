import Kafka

/// The offsets of messages that a consumer has applied but not yet committed to the broker.
///
/// The consumer's places decide which events are applied. The broker's offsets only show the next
/// consumer of a partition where to begin reading. The broker writes each commit to its disk. So
/// offsets are not committed after every batch, but a few times a second and whenever no messages
/// come. The next batch does not wait for the broker's answer.
///
/// Pure.
struct UncommittedOffsets {
    /// The longest time that offsets are held back while messages come.
    static let interval = Duration.milliseconds(250)

    /// The next offset to read, by partition.
    private(set) var next: [KafkaTopicPartition: Int64] = [:]
    /// Those of a commit that the broker has not answered yet.
    private var underWay: [KafkaTopicPartition: Int64] = [:]
    /// Whether a commit is under way, even if its partitions are another consumer's by now.
    private var isUnderWay = false
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
        for partition in partitions {
            next[partition] = nil
            underWay[partition] = nil
        }
    }

    /// Whether the broker knows all offsets.
    var areSettled: Bool { next.isEmpty && !isUnderWay }

    /// Whether it is time to commit.
    ///
    /// - Parameters:
    ///   - isIdle: Whether the last poll returned no messages.
    ///   - now: The time.
    /// - Returns: Always `false` if there are no offsets to commit, or while a commit is under way.
    func areDue(isIdle: Bool, at now: ContinuousClock.Instant) -> Bool {
        guard !isUnderWay, !next.isEmpty, let dueAt else { return false }
        return isIdle && !isPostponed || now >= dueAt
    }

    /// Begins a commit.
    ///
    /// - Returns: The offsets to commit.
    mutating func begin() -> [KafkaTopicPartition: Int64] {
        (underWay, next) = (next, [:])
        isUnderWay = true
        dueAt = nil
        return underWay
    }

    /// Takes all offsets for a last commit, those of a commit that has no answer included.
    mutating func takeAll() -> [KafkaTopicPartition: Int64] {
        defer { self = UncommittedOffsets() }
        return underWay.merging(next) { _, later in later }
    }

    /// Forgets the offsets of the commit, because they were committed or never can be.
    mutating func settle() {
        underWay = [:]
        isUnderWay = false
        isPostponed = false
    }

    /// Keeps the offsets of the commit for another one in a second, because the broker did not answer.
    mutating func postpone(at now: ContinuousClock.Instant) {
        next = underWay.merging(next) { _, later in later }
        underWay = [:]
        isUnderWay = false
        dueAt = now + .seconds(1)
        isPostponed = true
    }
}

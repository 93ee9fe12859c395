import Kafka

/// The offsets of what a consumer has applied and has not told the broker yet.
///
/// The inbox says what is done. The broker's offsets only say where whoever gets the partition next
/// begins to read, so they are committed a few times a second and whenever nothing comes, not after
/// every batch: each commit is a request that the broker keeps on its disk.
///
/// Pure.
struct UncommittedOffsets {
    /// The longest time that they are held back while messages come.
    static let interval = Duration.milliseconds(250)

    /// For each partition the next offset to read.
    private(set) var next: [KafkaTopicPartition: Int64] = [:]
    /// Whether the broker did not answer the last time.
    private(set) var isPostponed = false
    private var dueAt: ContinuousClock.Instant?

    /// Takes note of messages that were applied.
    ///
    /// - Parameters:
    ///   - messages: In the order of their partitions.
    ///   - rewound: Partitions that are read from their beginning again; nothing that was noted of
    ///     them holds.
    ///   - now: The time.
    mutating func add(
        _ messages: [KafkaMessage],
        except rewound: Set<KafkaTopicPartition>,
        at now: ContinuousClock.Instant
    ) {
        for message in messages {
            // The latest, not the highest: a log that was made anew counts from zero.
            next[message.topicPartition] = message.offset + 1
        }
        forget(rewound)
        if dueAt == nil, !next.isEmpty { dueAt = now + Self.interval }
    }

    /// Forgets partitions that are another's now.
    mutating func forget(_ partitions: some Sequence<KafkaTopicPartition>) {
        for partition in partitions { next[partition] = nil }
    }

    /// Whether it is time to commit.
    ///
    /// - Parameters:
    ///   - isIdle: Whether nothing came.
    ///   - now: The time.
    /// - Returns: `false` also where there are none.
    func areDue(isIdle: Bool, at now: ContinuousClock.Instant) -> Bool {
        guard !next.isEmpty, let dueAt else { return false }
        return isIdle && !isPostponed || now >= dueAt
    }

    /// Takes note that everything was committed, or cannot be.
    mutating func settle() {
        next = [:]
        dueAt = nil
        isPostponed = false
    }

    /// Takes note that the broker did not answer: the same is tried again in a while.
    mutating func postpone(at now: ContinuousClock.Instant) {
        dueAt = now + .seconds(1)
        isPostponed = true
    }
}

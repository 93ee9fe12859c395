import Kafka

/// The partitions that a consumer must read again, because an event came before its predecessor.
///
/// The missing event may come later in the same partition: a relay that could not send it sends it
/// again, together with all later ones. Or it is in another partition, because the topic got more of
/// them, and another member has yet to apply it. So the consumer reads on, commits nothing beyond the
/// first event that came too early, and reads the partition from there again after a pause.
///
/// Pure.
struct HeldOffsets {
    /// The first pause.
    static let pauseMin = Duration.milliseconds(100)
    /// The longest pause, for an event that only a replay can bring.
    static let pauseMax = Duration.seconds(10)

    /// The offset of the first event that came too early, by partition.
    private(set) var first: [KafkaTopicPartition: Int64] = [:]
    /// The offsets from which partitions were read again last.
    private var readFrom: [KafkaTopicPartition: Int64] = [:]
    private var pause = Self.pauseMin
    private var dueAt: ContinuousClock.Instant?

    /// Whether the consumer has waited for so long that a person should look.
    var isLong: Bool { pause == Self.pauseMax }

    /// Holds partitions.
    ///
    /// - Parameters:
    ///   - offsets: The first early event of each partition since it was last read again.
    ///   - now: The time.
    /// - Returns: Whether an event came too early that did not before.
    mutating func hold(
        _ offsets: [KafkaTopicPartition: Int64],
        at now: ContinuousClock.Instant
    ) -> Bool {
        let isNew = offsets.contains { first[$0.key] == nil }
        // A partition that advances, as after a lost log, is read again soon.
        let advances = offsets.contains { partition, offset in
            readFrom[partition].map { $0 < offset } ?? false
        }
        if isNew, advances { pause = Self.pauseMin }
        first = offsets
        if first.isEmpty {
            // Long after the last early event the next one is the first again.
            if let dueAt, now > dueAt + Self.pauseMax { forgetPause() }
        } else if isNew {
            dueAt = now + pause
            pause = min(pause * 2, Self.pauseMax)
        }
        return isNew
    }

    /// The partitions to read again now, and from where; they are not held any more.
    mutating func takeDue(
        at now: ContinuousClock.Instant
    ) -> [KafkaTopicPartition: Int64] {
        guard !first.isEmpty, let dueAt, now >= dueAt else { return [:] }
        defer { first = [:] }
        readFrom = first
        return first
    }

    /// Forgets partitions that are assigned to another consumer.
    mutating func forget(_ partitions: some Sequence<KafkaTopicPartition>) {
        for partition in partitions {
            first[partition] = nil
            readFrom[partition] = nil
        }
    }

    /// Forgets what came too early in partitions that are read from their beginning.
    ///
    /// Whatever comes next there, they advance.
    mutating func readFromTheBeginning(_ partitions: some Sequence<KafkaTopicPartition>) {
        for partition in partitions {
            first[partition] = nil
            readFrom[partition] = -1
        }
    }

    private mutating func forgetPause() {
        dueAt = nil
        pause = Self.pauseMin
    }
}

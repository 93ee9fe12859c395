public import Logging
import ThreadExecutor

/// Reads messages, in batches, on a thread of its own. Offsets are committed by hand only.
///
/// Either a member of a group, which shares the partitions of its topics among its members, or a
/// follower, which reads every partition from its present end and commits nothing.
///
/// Rebalances happen inside ``poll(max:timeout:)``, so whoever handles a batch completely before
/// polling again never loses a partition in the middle of it. Poll at least every five minutes
/// (`max.poll.interval.ms`) or the group gives the partitions to others.
public actor KafkaConsumer {
    private let executor: ThreadExecutor
    private let consumer: RDKafkaConsumer
    private var following: Following?

    /// The topics of a follower.
    private struct Following {
        var missing: Set<String>
        var isFirstLook = true
        var lookAt = ContinuousClock.now
    }

    /// The executor that owns the consumer's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Makes a member of a group.
    ///
    /// It begins where the group has committed, or at the beginning.
    ///
    /// - Throws: ``KafkaError`` with ``KafkaError/Code/configuration``. A broker that is away or a
    ///   topic that does not exist yet is awaited.
    public init(
        settings: KafkaSettings,
        group: String,
        topics: [String],
        logger: Logger
    ) throws(KafkaError) {
        try KafkaLibrary.requireSupportedVersion()
        consumer = try RDKafkaConsumer(settings: settings, group: group, logger: logger)
        executor = ThreadExecutor(name: "kafka-\(group)")
        try consumer.subscribe(topics)
    }

    /// Makes a follower.
    ///
    /// It reads each partition from its end, and a topic that is made later from its beginning; an
    /// offset that is gone sends it to the beginning.
    ///
    /// - Throws: ``KafkaError`` with ``KafkaError/Code/configuration``.
    public init(
        settings: KafkaSettings,
        followingTopics topics: [String],
        logger: Logger
    ) throws(KafkaError) {
        try KafkaLibrary.requireSupportedVersion()
        consumer = try RDKafkaConsumer(settings: settings, group: nil, logger: logger)
        executor = ThreadExecutor(name: "kafka-follower")
        following = Following(missing: Set(topics))
    }

    /// Makes a reader of partitions, each from an offset.
    ///
    /// An offset that is gone sends it to the partition's beginning.
    ///
    /// - Throws: ``KafkaError`` with ``KafkaError/Code/configuration``.
    public init(
        settings: KafkaSettings,
        reading offsets: [KafkaTopicPartition: Int64],
        logger: Logger
    ) throws(KafkaError) {
        try KafkaLibrary.requireSupportedVersion()
        consumer = try RDKafkaConsumer(settings: settings, group: nil, logger: logger)
        executor = ThreadExecutor(name: "kafka-reader")
        try consumer.assign(offsets)
    }

    deinit {
        // Whoever ends without closing leaves the group here, on whatever thread this is.
        executor.shutDown()
    }

    /// Waits for a message and takes along what else is there.
    ///
    /// Blocks the consumer's own thread.
    ///
    /// - Parameters:
    ///   - max: The most messages to bring.
    ///   - timeout: How long to wait for the first.
    /// - Returns: Messages, and the rebalances that happened meanwhile.
    /// - Throws: A fatal ``KafkaError``: close this consumer and make another.
    public func poll(max: Int, timeout: Duration) throws(KafkaError) -> KafkaPoll {
        let found = try lookForMissingTopics()
        var poll = try consumer.poll(max: max, timeout: found.isEmpty ? timeout : .zero)
        poll.assigned += found
        return poll
    }

    /// Commits offsets, and waits for the broker's answer, three seconds at most.
    ///
    /// - Parameter next: For each partition the *next* offset to read.
    /// - Throws: ``KafkaError``. ``KafkaError/Code/illegalGeneration`` and
    ///   ``KafkaError/Code/unknownMember`` say that the partitions are another's by now.
    public func commit(_ next: [KafkaTopicPartition: Int64]) throws(KafkaError) {
        try consumer.commit(next)
    }

    /// Reads a partition on from another offset; -2 is its beginning, -1 its end.
    public func seek(_ partition: KafkaTopicPartition, to offset: Int64) throws(KafkaError) {
        try consumer.seek(partition, to: offset)
    }

    /// Stops reading partitions until they are resumed or assigned anew.
    public func pause(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
        try consumer.pause(partitions)
    }

    /// Goes on reading partitions.
    public func resume(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
        try consumer.resume(partitions)
    }

    /// The partitions that are this consumer's at present.
    public func assignment() throws(KafkaError) -> [KafkaTopicPartition] {
        try consumer.assignment()
    }

    /// Leaves the group, within five seconds: a broker that is away is not waited for longer.
    ///
    /// What it still owes is awaited beside, and the handle freed then. Safe to call twice.
    public func close() {
        consumer.close()
        executor.shutDown()
    }

    /// - Returns: The partitions of topics that were found.
    private func lookForMissingTopics() throws(KafkaError) -> [KafkaTopicPartition] {
        guard var following, !following.missing.isEmpty, ContinuousClock.now >= following.lookAt
        else { return [] }
        following.lookAt = .now + .seconds(1)
        defer { self.following = following }
        var offsets: [KafkaTopicPartition: Int64] = [:]
        for topic in following.missing {
            let count: Int?
            do {
                count = try consumer.partitionCount(of: topic)
            } catch  where error.isRetriable {
                break
            }
            guard let count else { continue }
            following.missing.remove(topic)
            for partition in 0..<Int32(count) {
                offsets[KafkaTopicPartition(topic: topic, partition: partition)] =
                    following.isFirstLook ? -1 : -2
            }
        }
        following.isFirstLook = false
        if !offsets.isEmpty { try consumer.assign(offsets) }
        return Array(offsets.keys)
    }
}

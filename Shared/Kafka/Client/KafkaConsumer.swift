public import Logging
import ThreadExecutor

/// Reads messages, in batches, on its own thread.
///
/// Offsets are committed only by ``commit(_:)`` and ``beginCommit(_:)``.
///
/// A consumer is a member of a group, a follower, or a reader of given partitions. The members of a
/// group share the partitions of its topics. A follower reads every partition from its present end
/// and commits nothing.
///
/// Rebalances happen inside ``poll(max:timeout:)``, so a caller that finishes each batch before it
/// polls again never loses a partition in the middle of a batch. Poll at least every five minutes
/// (`max.poll.interval.ms`), or the group assigns the partitions to other members.
public actor KafkaConsumer {
    private let executor: ThreadExecutor
    private let consumer: RDKafkaConsumer
    private nonisolated let waker: RDKafkaWaker
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
    /// It begins at the group's committed offset, or at the beginning if there is none.
    ///
    /// - Throws: ``KafkaError`` with ``KafkaError/Code/configuration``. An unreachable broker or a
    ///   missing topic is no error; the consumer waits for it.
    public init(
        settings: KafkaSettings,
        group: String,
        topics: [String],
        logger: Logger
    ) throws(KafkaError) {
        try KafkaLibrary.requireSupportedVersion()
        consumer = try RDKafkaConsumer(settings: settings, group: group, logger: logger)
        waker = consumer.waker
        executor = ThreadExecutor(name: "kafka-\(group)")
        try consumer.subscribe(topics)
    }

    /// Makes a follower.
    ///
    /// It reads each partition from its end, and a topic that is created later from its beginning.
    /// If its offset no longer exists, it continues from the beginning.
    ///
    /// - Throws: ``KafkaError`` with ``KafkaError/Code/configuration``.
    public init(
        settings: KafkaSettings,
        followingTopics topics: [String],
        logger: Logger
    ) throws(KafkaError) {
        try KafkaLibrary.requireSupportedVersion()
        consumer = try RDKafkaConsumer(settings: settings, group: nil, logger: logger)
        waker = consumer.waker
        executor = ThreadExecutor(name: "kafka-follower")
        following = Following(missing: Set(topics))
    }

    /// Makes a reader of partitions, each from an offset.
    ///
    /// If an offset no longer exists, it reads the partition from its beginning.
    ///
    /// - Throws: ``KafkaError`` with ``KafkaError/Code/configuration``.
    public init(
        settings: KafkaSettings,
        reading offsets: [KafkaTopicPartition: Int64],
        logger: Logger
    ) throws(KafkaError) {
        try KafkaLibrary.requireSupportedVersion()
        consumer = try RDKafkaConsumer(settings: settings, group: nil, logger: logger)
        waker = consumer.waker
        executor = ThreadExecutor(name: "kafka-reader")
        try consumer.assign(offsets.mapValues { .at($0) })
    }

    deinit {
        // A consumer that was not closed leaves the group here, on whatever thread this is.
        executor.shutDown()
    }

    /// Waits for a message, and returns it with all others that have arrived.
    ///
    /// It blocks the consumer's own thread.
    ///
    /// - Parameters:
    ///   - max: The largest number of messages.
    ///   - timeout: The longest wait for the first message.
    /// - Returns: The messages, and the rebalances that happened meanwhile.
    /// - Throws: A fatal ``KafkaError``: close this consumer and make another.
    public func poll(max: Int, timeout: Duration) throws(KafkaError) -> KafkaPoll {
        let found = try lookForMissingTopics()
        // A missing topic is looked for every second.
        let wait = following?.missing.isEmpty == false ? min(timeout, .milliseconds(500)) : timeout
        var poll = try consumer.poll(max: max, timeout: found.isEmpty ? wait : .zero)
        poll.assigned += found
        return poll
    }

    /// Does the same as ``poll(max:timeout:)``, but ends the wait if the task is cancelled.
    ///
    /// So a service that is idle may wait long, and still shuts down at once.
    ///
    /// - Parameters:
    ///   - max: The largest number of messages.
    ///   - timeout: The longest wait for the first message.
    /// - Returns: The messages, and the rebalances that happened meanwhile.
    /// - Throws: A fatal ``KafkaError``, as ``poll(max:timeout:)`` does.
    public nonisolated func next(max: Int, timeout: Duration) async throws -> KafkaPoll {
        try await withTaskCancellationHandler {
            try await poll(max: max, timeout: timeout)
        } onCancel: {
            waker.wake()
        }
    }

    /// Commits offsets, and waits for the broker's answer, three seconds at most.
    ///
    /// - Parameter next: The *next* offset to read, by partition.
    /// - Throws: ``KafkaError``. ``KafkaError/Code/illegalGeneration`` and
    ///   ``KafkaError/Code/unknownMember`` mean that the partitions now belong to another consumer.
    public func commit(_ next: [KafkaTopicPartition: Int64]) throws(KafkaError) {
        try consumer.commit(next)
    }

    /// Begins to commit offsets, and does not wait for the broker.
    ///
    /// A later poll has the answer, or an error after three seconds. The answer to an earlier commit that
    /// no poll has returned yet is lost.
    ///
    /// - Parameter next: The *next* offset to read, by partition.
    /// - Throws: ``KafkaError`` if it cannot begin.
    public func beginCommit(_ next: [KafkaTopicPartition: Int64]) throws(KafkaError) {
        try consumer.beginCommit(next)
    }

    /// The offsets that the group has committed, for those of the given partitions that have one.
    ///
    /// It waits three seconds at most.
    public func committed(
        _ partitions: Set<KafkaTopicPartition>
    ) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
        try consumer.committed(Array(partitions))
    }

    /// Continues reading a partition from another offset.
    public func seek(_ partition: KafkaTopicPartition, to offset: KafkaOffset) throws(KafkaError) {
        try consumer.seek(partition, to: offset)
    }

    /// Stops reading partitions until they are resumed or assigned again.
    public func pause(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
        try consumer.pause(partitions)
    }

    /// Resumes reading partitions.
    public func resume(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
        try consumer.resume(partitions)
    }

    /// The partitions that are currently assigned to this consumer.
    public func assignment() throws(KafkaError) -> [KafkaTopicPartition] {
        try consumer.assignment()
    }

    /// Leaves the group, within five seconds even if the broker is unreachable.
    ///
    /// If the broker still owes an answer, a separate thread waits for it and frees the handle
    /// then. Safe to call twice.
    public func close() {
        consumer.close()
        executor.shutDown()
    }

    /// - Returns: The partitions of the topics that were found.
    private func lookForMissingTopics() throws(KafkaError) -> [KafkaTopicPartition] {
        guard var following, !following.missing.isEmpty, ContinuousClock.now >= following.lookAt
        else { return [] }
        following.lookAt = .now + .seconds(1)
        defer { self.following = following }
        var offsets: [KafkaTopicPartition: KafkaOffset] = [:]
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
                    following.isFirstLook ? .end : .beginning
            }
        }
        following.isFirstLook = false
        if !offsets.isEmpty { try consumer.assign(offsets) }
        return Array(offsets.keys)
    }
}

public import Logging
import ThreadExecutor

/// Asks a cluster about its topics and groups, and creates and deletes topics.
///
/// Its calls block its own thread.
public actor KafkaAdmin {
    private let executor: ThreadExecutor
    private let admin: RDKafkaAdmin

    /// The executor that owns the thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Makes a handle and begins to connect.
    ///
    /// - Throws: ``KafkaError`` with ``KafkaError/Code/configuration``.
    public init(settings: KafkaSettings, logger: Logger) throws(KafkaError) {
        try KafkaLibrary.requireSupportedVersion()
        admin = try RDKafkaAdmin(settings: settings, logger: logger)
        executor = ThreadExecutor(name: "kafka-admin")
    }

    deinit {
        executor.shutDown()
    }

    /// Creates topics.
    ///
    /// A topic that already exists stays as it is.
    ///
    /// - Returns: The names of the created topics.
    /// - Throws: ``KafkaError``.
    @discardableResult
    public func createTopics(_ topics: [KafkaTopicDefinition]) throws(KafkaError) -> [String] {
        try admin.createTopics(topics)
    }

    /// Deletes topics with all their messages.
    ///
    /// It is no error if a topic does not exist.
    ///
    /// - Throws: ``KafkaError``.
    public func deleteTopics(_ names: [String]) throws(KafkaError) {
        try admin.deleteTopics(names)
    }

    /// The number of partitions of a topic; `nil` if it does not exist.
    ///
    /// - Throws: ``KafkaError``.
    public func partitions(of topic: String) throws(KafkaError) -> Int? {
        try admin.requireOpen()
        return try RDKafkaMetadata.partitionCount(of: topic, admin.handle)
    }

    /// The next offsets that a group will read, for the partitions where it has committed one.
    ///
    /// - Throws: ``KafkaError``.
    public func committedOffsets(
        group: String,
        partitions: [KafkaTopicPartition]
    ) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
        try admin.committedOffsets(group: group, partitions: partitions)
    }

    /// The first offset of a partition and the one after its last.
    ///
    /// - Throws: ``KafkaError``.
    public func watermarks(
        of partition: KafkaTopicPartition
    ) throws(KafkaError) -> (low: Int64, high: Int64) {
        let (low, high) = try admin.watermarks(of: partition)
        return (low, high)
    }

    /// The first offset at or after a time, for each partition; -1 if there is none.
    ///
    /// - Parameter times: The times, in milliseconds since 1970.
    /// - Returns: The offset of each requested partition.
    /// - Throws: ``KafkaError``.
    public func offsets(
        for times: [KafkaTopicPartition: Int64]
    ) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
        try admin.offsets(for: times)
    }

    /// The offset after the last message of each partition, with one request to each broker.
    ///
    /// - Throws: ``KafkaError``.
    public func endOffsets(
        of partitions: [KafkaTopicPartition]
    ) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
        let end: Int64 = -1
        return try admin.offsets(
            for: Dictionary(partitions.map { ($0, end) }) { first, _ in first }
        )
    }

    /// Frees the handle.
    ///
    /// Safe to call twice.
    public func close() {
        admin.close()
        executor.shutDown()
    }
}

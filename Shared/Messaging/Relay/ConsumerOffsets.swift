import EventTypes
import Kafka
import Logging
import Synchronization

/// Reads how far the consumers of a service's topics are.
///
/// A group that the service may not see counts as one that has committed nothing: all its events are
/// published again if the broker loses its log. Publishing itself goes on.
final class ConsumerOffsets: Sendable {
    /// Reads the offsets that a group has committed for some partitions.
    typealias Read =
        @Sendable (_ group: String, _ partitions: [KafkaTopicPartition]) async throws ->
        [KafkaTopicPartition: Int64]

    private let logger: Logger
    /// The groups whose refusal has been logged.
    private let refused = Mutex<Set<String>>([])

    init(logger: Logger) { self.logger = logger }

    /// Reads the committed offsets.
    ///
    /// - Parameters:
    ///   - topics: The topics with their consumers.
    ///   - partitions: The partitions that were written.
    ///   - read: Asks the broker for the offsets of one group.
    /// - Returns: For each consumer, the next offset it will read, by partition.
    /// - Throws: `KafkaError`, unless the broker only forbids to see a group.
    func committed(
        of topics: [Topic],
        in partitions: [KafkaTopicPartition],
        read: Read
    ) async throws -> [ServiceName: [KafkaTopicPartition: Int64]] {
        var committed: [ServiceName: [KafkaTopicPartition: Int64]] = [:]
        for topic in topics {
            let written = partitions.filter { $0.topic == topic.name }
            for consumer in topic.consumers where !written.isEmpty {
                let group = topic.group(of: consumer)
                do {
                    let offsets = try await read(group, written)
                    committed[consumer, default: [:]].merge(offsets) { $1 }
                    _ = refused.withLock { $0.remove(group) }
                } catch let error as KafkaError where error.code == .notAuthorized {
                    note(group, error)
                }
            }
        }
        return committed
    }

    /// Logs a refusal once, until the group can be seen again.
    private func note(_ group: String, _ error: KafkaError) {
        guard refused.withLock({ $0.insert(group).inserted }) else { return }
        logger.error(
            "The relay may not see how far a consumer is; all its events count as unconfirmed",
            metadata: [
                "kafka.group": "\(group)", "error": "\(error)",
                "todo": "allow this service's Kafka user to Describe the group",
            ]
        )
    }
}

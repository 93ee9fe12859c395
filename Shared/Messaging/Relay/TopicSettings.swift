/// The settings with which a missing topic is created.
public struct TopicSettings: Sendable {
    /// The number of partitions.
    public let partitions: Int
    /// The number of brokers that keep a copy of each partition.
    public let replicationFactor: Int

    /// Makes settings.
    public init(partitions: Int, replicationFactor: Int = 1) {
        self.partitions = partitions
        self.replicationFactor = replicationFactor
    }

    /// The configuration of a topic.
    ///
    /// No message is dropped for its age or for the size of its topic. A consumer may be away for
    /// longer than a broker's default retention, and must still find what it has not read.
    static func configuration(isCompacted: Bool) -> [String: String] {
        isCompacted
            ? ["cleanup.policy": "compact"]
            : ["cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"]
    }
}

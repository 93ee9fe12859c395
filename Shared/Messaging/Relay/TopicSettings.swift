/// What a topic is made with where it does not exist yet.
public struct TopicSettings: Sendable {
    /// How many partitions.
    public let partitions: Int
    /// On how many brokers each is kept.
    public let replicationFactor: Int

    /// Makes settings.
    public init(partitions: Int, replicationFactor: Int = 1) {
        self.partitions = partitions
        self.replicationFactor = replicationFactor
    }

    /// The properties of a topic.
    ///
    /// Nothing is dropped for its age or size: a consumer may be away for longer than a broker keeps
    /// by itself, and what it has not read must be there when it is back.
    static func configuration(isCompacted: Bool) -> [String: String] {
        isCompacted
            ? ["cleanup.policy": "compact"]
            : ["cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"]
    }
}

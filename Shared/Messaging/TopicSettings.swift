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
}

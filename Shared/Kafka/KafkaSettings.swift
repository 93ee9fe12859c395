/// How to reach a Kafka cluster.
public struct KafkaSettings: Sendable {
    /// The brokers to begin with: `host:port`, several separated by commas.
    public let bootstrapServers: String
    /// The name under which the broker logs and limits this process.
    public let clientID: String
    /// Further properties of librdkafka, TLS and SASL among them; they win over this library's own.
    public let properties: [String: String]

    /// Makes settings.
    public init(bootstrapServers: String, clientID: String, properties: [String: String] = [:]) {
        self.bootstrapServers = bootstrapServers
        self.clientID = clientID
        self.properties = properties
    }
}

/// A topic to be made.
public struct KafkaTopicDefinition: Sendable, Hashable {
    /// The topic's name.
    public var name: String
    /// How many partitions.
    public var partitions: Int
    /// On how many brokers each partition is kept.
    public var replicationFactor: Int
    /// Topic properties such as `cleanup.policy`.
    public var configuration: [String: String]

    /// Makes a definition.
    public init(
        name: String,
        partitions: Int,
        replicationFactor: Int,
        configuration: [String: String] = [:]
    ) {
        self.name = name
        self.partitions = partitions
        self.replicationFactor = replicationFactor
        self.configuration = configuration
    }
}

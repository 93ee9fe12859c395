/// The address of a Kafka cluster, and the properties of its clients.
public struct KafkaSettings: Sendable {
    /// The bootstrap servers: `host:port`, several separated by commas.
    public let bootstrapServers: String
    /// The name by which the broker identifies this process in logs and quotas.
    public let clientID: String
    /// Further properties of librdkafka, such as those of TLS and SASL.
    ///
    /// They override this library's own.
    public let properties: [String: String]

    /// Makes settings.
    public init(bootstrapServers: String, clientID: String, properties: [String: String] = [:]) {
        self.bootstrapServers = bootstrapServers
        self.clientID = clientID
        self.properties = properties
    }

    /// The longest time for which a fetch waits for a message.
    public var fetchWait: Duration {
        .milliseconds(properties[Self.fetchWaitName].flatMap { Int($0) } ?? 500)
    }

    /// The most bytes that one fetch brings.
    ///
    /// librdkafka demands that the largest message has room, whose default is 1,000,000 bytes.
    var fetchBytesMax: Int {
        max(1 << 20, properties["message.max.bytes"].flatMap { Int($0) } ?? 0)
    }

    private static let fetchWaitName = "fetch.wait.max.ms"

    private static let refreshName = "topic.metadata.refresh.interval.ms"

    /// Returns these settings for a handle that need not find new topics by itself.
    ///
    /// Each handle asks the broker again and again for the topics it knows. Every second is only needed
    /// by a member of a group, which thereby finds a topic of its subscription that is created later.
    /// Others ask at once if a partition has moved, and every second for a topic that is gone. What they
    /// learn later is that a topic has got more partitions.
    ///
    /// - Parameter interval: The time between two requests; a property that is given stays as it is.
    /// - Returns: The settings.
    func refreshingTopics(every interval: Duration) -> KafkaSettings {
        let refresh = [Self.refreshName: "\(interval.inMilliseconds)"]
        return KafkaSettings(
            bootstrapServers: bootstrapServers,
            clientID: clientID,
            properties: refresh.merging(properties) { _, given in given }
        )
    }

    /// Returns these settings for a consumer that is in no hurry.
    ///
    /// A fetch that finds nothing waits at least this long for a message, so the consumer asks less
    /// often. A broker that ends the wait when a message comes delays nothing.
    ///
    /// - Parameter wait: The least value of librdkafka's `fetch.wait.max.ms`, whose default is
    ///   500 ms.
    /// - Returns: The settings, with a wait that is never shorter than it was.
    public func waiting(atLeast wait: Duration) -> KafkaSettings {
        var properties = properties
        properties[Self.fetchWaitName] = "\(max(fetchWait, wait).inMilliseconds)"
        return KafkaSettings(
            bootstrapServers: bootstrapServers,
            clientID: clientID,
            properties: properties
        )
    }
}

/// A topic to be created.
public struct KafkaTopicDefinition: Sendable, Hashable {
    /// The topic's name.
    public var name: String
    /// The number of partitions.
    public var partitions: Int
    /// The number of brokers that keep a copy of each partition.
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

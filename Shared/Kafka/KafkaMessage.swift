/// A named value that is sent with a message.
public struct KafkaHeader: Sendable, Hashable {
    /// The header's name; a message may have several headers of one name.
    public var name: String
    /// The header's value.
    public var value: [UInt8]

    /// Makes a header.
    public init(name: String, value: [UInt8]) {
        self.name = name
        self.value = value
    }
}

/// A message to be produced.
public struct KafkaRecord: Sendable, Hashable {
    /// The topic to which it is sent.
    public var topic: String
    /// The partition to which it is sent; `nil` lets the key decide.
    public var partition: Int32?
    /// The key.
    ///
    /// Messages of one key go to one partition and stay in order.
    public var key: [UInt8]?
    /// The content; `nil` deletes the key from a compacted topic.
    public var value: [UInt8]?
    /// The headers.
    public var headers: [KafkaHeader]

    /// Makes a record.
    public init(
        topic: String,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [KafkaHeader] = [],
        partition: Int32? = nil
    ) {
        self.topic = topic
        self.partition = partition
        self.key = key
        self.value = value
        self.headers = headers
    }
}

/// The partition and offset at which the broker has stored a record.
public struct KafkaDelivery: Sendable, Hashable {
    /// The partition.
    public var partition: Int32
    /// The offset in it.
    public var offset: Int64

    /// Makes a delivery.
    public init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }
}

/// One partition of one topic.
public struct KafkaTopicPartition: Hashable, Sendable {
    /// The topic.
    public var topic: String
    /// The partition.
    public var partition: Int32

    /// Makes a partition of a topic.
    public init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// Hashes the number and no more of the topic than its length.
    ///
    /// Each message is looked up by its partition several times, and a client has few topics.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(partition)
        hasher.combine(topic.utf8.count)
    }
}

/// A consumed message.
public struct KafkaMessage: Sendable, Hashable {
    /// The topic from which it was read.
    public var topic: String
    /// The partition from which it was read.
    public var partition: Int32
    /// Its offset in that partition.
    public var offset: Int64
    /// Its key.
    public var key: [UInt8]?
    /// The content.
    public var value: [UInt8]?
    /// The headers.
    public internal(set) var packedHeaders: KafkaHeaders
    /// The time when it was produced, in milliseconds since 1970; -1 if unknown.
    public var timestampMilliseconds: Int64

    /// The headers, each with memory of its own.
    public var headers: [KafkaHeader] {
        get { packedHeaders.list }
        set { packedHeaders = KafkaHeaders(newValue) }
    }

    /// The topic and partition from which it was read.
    public var topicPartition: KafkaTopicPartition {
        KafkaTopicPartition(topic: topic, partition: partition)
    }
}

extension KafkaMessage {
    /// Makes a message as a consumer would receive it.
    init(
        topic: String,
        partition: Int32,
        offset: Int64,
        key: [UInt8]? = nil,
        value: [UInt8]? = nil,
        headers: [KafkaHeader],
        timestampMilliseconds: Int64
    ) {
        self.init(
            topic: topic,
            partition: partition,
            offset: offset,
            key: key,
            value: value,
            packedHeaders: KafkaHeaders(headers),
            timestampMilliseconds: timestampMilliseconds
        )
    }
}

/// The result of one poll of a consumer.
public struct KafkaPoll: Sendable {
    /// The messages, in order within each partition.
    public var messages: [KafkaMessage]
    /// The partitions that were assigned to this consumer during the poll.
    public var assigned: [KafkaTopicPartition]
    /// The partitions that were taken from this consumer during the poll.
    public var revoked: [KafkaTopicPartition]
    /// Whether the consumer waits for its group to assign partitions to it.
    ///
    /// It does at first and during each rebalance. It does not if the group has told it that it gets
    /// none. A consumer without a group never waits.
    public var awaitsPartitions = false
    /// The broker's answer to ``KafkaConsumer/beginCommit(_:)``, in the first poll that has it.
    public var commitAnswer: Result<Void, KafkaError>?
}

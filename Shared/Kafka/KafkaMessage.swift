/// A named value that travels with a message.
public struct KafkaHeader: Sendable, Hashable {
    /// The header's name; it may stand more than once.
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
    /// The topic it goes to.
    public var topic: String
    /// The partition it goes to; `nil` lets the key decide.
    public var partition: Int32?
    /// Messages of one key go to one partition and stay in order.
    public var key: [UInt8]?
    /// The message itself; `nil` deletes the key from a compacted topic.
    public var value: [UInt8]?
    /// What travels with it.
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

/// Where the broker has stored a record.
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

    /// Names a partition.
    public init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }
}

/// A message as it was consumed.
public struct KafkaMessage: Sendable, Hashable {
    /// The topic it came from.
    public var topic: String
    /// The partition it came from.
    public var partition: Int32
    /// Its offset there.
    public var offset: Int64
    /// Its key.
    public var key: [UInt8]?
    /// The message itself.
    public var value: [UInt8]?
    /// What travelled with it.
    public var headers: [KafkaHeader]
    /// Milliseconds since 1970 at which it was produced; -1 if unknown.
    public var timestampMilliseconds: Int64

    /// The partition of its topic.
    public var topicPartition: KafkaTopicPartition {
        KafkaTopicPartition(topic: topic, partition: partition)
    }
}

/// What one poll of a consumer brought.
public struct KafkaPoll: Sendable {
    /// Messages, in the order of their partitions.
    public var messages: [KafkaMessage]
    /// Partitions that became this consumer's during the poll.
    public var assigned: [KafkaTopicPartition]
    /// Partitions that ceased to be this consumer's during the poll.
    public var revoked: [KafkaTopicPartition]
}

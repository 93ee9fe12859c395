import Kafka

/// The newest message that was read of each partition, and whether the topic still has it.
///
/// Pure.
struct NewestMessages {
    private var messages: [KafkaTopicPartition: KafkaMessage] = [:]
    /// The partitions whose newest message was asked for again and has not come.
    private(set) var awaited: Set<KafkaTopicPartition> = []
    /// The partitions of which nothing was read, although they had messages at the last look.
    private(set) var overlooked: Set<KafkaTopicPartition> = []

    /// Begins to wait for the newest messages again.
    ///
    /// - Returns: The offsets from which to read.
    mutating func look() -> [KafkaTopicPartition: Int64] {
        awaited = Set(messages.keys)
        return messages.mapValues(\.offset)
    }

    /// The partitions of which nothing was read yet.
    func unread(of partitions: some Sequence<KafkaTopicPartition>) -> [KafkaTopicPartition] {
        partitions.filter { messages[$0] == nil }
    }

    /// Remembers that a partition of which nothing was read yet has messages.
    mutating func hasMessages(_ partition: KafkaTopicPartition) {
        if messages[partition] == nil { overlooked.insert(partition) }
    }

    /// Takes messages, in the order of their offsets.
    ///
    /// - Parameter batch: The messages.
    /// - Returns: Those that were not read before; `nil` if the topic has another message where the
    ///   newest one was.
    mutating func admit(_ batch: [KafkaMessage]) -> [KafkaMessage]? {
        var admitted: [KafkaMessage] = []
        for message in batch {
            let partition = message.topicPartition
            if let known = messages[partition], message.offset <= known.offset {
                guard message.offset < known.offset || message.value == known.value else {
                    return nil
                }
                if message.offset == known.offset { awaited.remove(partition) }
                continue
            }
            messages[partition] = message
            overlooked.remove(partition)
            admitted.append(message)
        }
        return admitted
    }
}

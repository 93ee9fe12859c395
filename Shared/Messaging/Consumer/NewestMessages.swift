import Kafka

/// The newest message that was read of each partition, and whether the topic still has it.
///
/// Pure.
struct NewestMessages {
    private var messages: [KafkaTopicPartition: KafkaMessage] = [:]
    /// The partitions whose newest message was asked for again and has not come.
    private(set) var awaited: Set<KafkaTopicPartition> = []

    /// Begins to wait for the newest messages again.
    ///
    /// - Returns: The offsets from which to read.
    mutating func look() -> [KafkaTopicPartition: Int64] {
        awaited = Set(messages.keys)
        return messages.mapValues(\.offset)
    }

    /// Takes the messages of a partition again that were read before.
    ///
    /// For a partition that is read from its beginning again.
    mutating func forget(_ partition: KafkaTopicPartition) {
        messages[partition] = nil
        awaited.remove(partition)
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
            admitted.append(message)
        }
        return admitted
    }
}

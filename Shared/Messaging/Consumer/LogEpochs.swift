import Kafka

/// Notices, from the events themselves, that a partition is a new log: one written after the broker
/// lost the old one.
///
/// Pure.
///
/// A consumer's offset may lie in the middle of the new log although it has read nothing of it. The
/// first event of a newer epoch therefore sends the consumer back to the partition's beginning.
struct LogEpochs: Sendable {
    private var known: [KafkaTopicPartition: Int32] = [:]

    /// Remembers the epochs that were stored with the consumer's effects.
    mutating func load(_ stored: [KafkaTopicPartition: Int32]) {
        for (partition, epoch) in stored {
            known[partition] = max(known[partition] ?? 0, epoch)
        }
    }

    /// The partitions to read again from their beginning, and the events of the others.
    mutating func admit(
        _ events: [ReceivedEvent]
    ) -> (admitted: [ReceivedEvent], rewind: Set<KafkaTopicPartition>) {
        var rewind: Set<KafkaTopicPartition> = []
        var admitted: [ReceivedEvent] = []
        admitted.reserveCapacity(events.count)
        for event in events {
            let partition = KafkaTopicPartition(topic: event.topic, partition: event.partition)
            if rewind.contains(partition) { continue }
            if event.isReplayed {
                admitted.append(event)
                continue
            }
            if let epoch = known[partition], event.epoch > epoch, event.offset > 0 {
                known[partition] = event.epoch
                rewind.insert(partition)
                continue
            }
            known[partition] = max(known[partition] ?? 0, event.epoch)
            admitted.append(event)
        }
        return (admitted, rewind)
    }
}

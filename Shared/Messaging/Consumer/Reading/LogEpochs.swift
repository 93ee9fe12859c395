import Kafka

/// Detects from the events that a partition is a new log, written after the broker lost the old
/// one.
///
/// Pure.
///
/// A consumer's offset may point into the middle of the new log although the consumer has read
/// nothing of it. The first event of a newer epoch therefore sends the consumer back to the
/// beginning of the partition.
struct LogEpochs: Sendable {
    private var known: [KafkaTopicPartition: Int32] = [:]

    /// Loads the epochs that were stored together with the consumer's effects.
    mutating func load(_ stored: [KafkaTopicPartition: Int32]) {
        for (partition, epoch) in stored {
            known[partition] = max(known[partition] ?? 0, epoch)
        }
    }

    /// Separates the partitions that must be read again from their beginning from the events of the
    /// others.
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

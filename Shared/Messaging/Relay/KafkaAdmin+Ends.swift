import Kafka

extension KafkaAdmin {
    /// The ends of partitions; none if one of them is not there any more.
    func endsOfKnown(
        _ partitions: [KafkaTopicPartition]
    ) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
        // If only dead letters are published, or events of the log alone, no partition is asked about.
        // librdkafka refuses such a question.
        guard !partitions.isEmpty else { return [:] }
        do {
            return try endOffsets(of: partitions)
        } catch {
            guard error.code == .unknownTopic else { throw error }
            return [:]
        }
    }
}

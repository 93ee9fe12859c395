import Kafka

extension KafkaAdmin {
    /// The ends of partitions; none if one of them is not there any more.
    func endsOfKnown(
        _ partitions: [KafkaTopicPartition]
    ) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
        do {
            return try endOffsets(of: partitions)
        } catch {
            guard error.code == .unknownTopic else { throw error }
            return [:]
        }
    }
}

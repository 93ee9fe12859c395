import CLibrdkafka

/// A list of partitions in librdkafka's form, which it owns unless stated otherwise.
struct RDKafkaPartitionList: ~Copyable {
    let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(_ offsets: [KafkaTopicPartition: Int64]) {
        pointer = rd_kafka_topic_partition_list_new(Int32(offsets.count))
        for (partition, offset) in offsets {
            let element = rd_kafka_topic_partition_list_add(
                pointer,
                partition.topic,
                partition.partition
            )
            element?.pointee.offset = offset
        }
    }

    init(_ partitions: [KafkaTopicPartition], offset: Int64 = -1001) {
        self.init(Dictionary(partitions.map { ($0, offset) }) { first, _ in first })
    }

    init(topics: [String]) {
        pointer = rd_kafka_topic_partition_list_new(Int32(topics.count))
        for topic in topics {
            rd_kafka_topic_partition_list_add(pointer, topic, -1)
        }
    }

    deinit {
        rd_kafka_topic_partition_list_destroy(pointer)
    }

    /// The elements of a list with another owner.
    static func elements(
        of list: UnsafePointer<rd_kafka_topic_partition_list_t>?
    ) -> [(partition: KafkaTopicPartition, offset: Int64, error: rd_kafka_resp_err_t)] {
        guard let list, let elements = list.pointee.elems else { return [] }
        return (0..<Int(list.pointee.cnt)).map { index in
            let element = elements[index]
            return (
                KafkaTopicPartition(
                    topic: String(cString: element.topic),
                    partition: element.partition
                ),
                element.offset, element.err
            )
        }
    }

    var elements: [(partition: KafkaTopicPartition, offset: Int64, error: rd_kafka_resp_err_t)] {
        Self.elements(of: UnsafePointer(pointer))
    }

    /// Throws the first error of an element, if there is one.
    func requireNoError(_ doing: String) throws(KafkaError) {
        for element in elements where element.error != RD_KAFKA_RESP_ERR_NO_ERROR {
            throw KafkaError(
                element.error,
                "\(doing) \(element.partition.topic)/\(element.partition.partition)"
            )
        }
    }
}

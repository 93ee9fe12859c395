import CLibrdkafka
import Logging

/// A handle for questions about the cluster.
///
/// It is a consuming handle, because asking a producing one for a topic may make the broker create
/// the topic. It has no group, because it would otherwise look for the group's coordinator.
final class RDKafkaAdmin {
    let handle: OpaquePointer
    private let box: Unmanaged<CallbackBox>
    private var isClosed = false

    init(settings: KafkaSettings, logger: Logger) throws(KafkaError) {
        let box = Unmanaged.passRetained(CallbackBox(logger: logger))
        do {
            let configuration = try RDKafkaConfiguration.make(
                // Each question about a topic brings a request of its own.
                settings.refreshingTopics(every: .seconds(10)),
                defaults: ["allow.auto.create.topics": "false"],
                opaque: box
            )
            handle = try RDKafkaConfiguration.makeHandle(RD_KAFKA_CONSUMER, configuration)
        } catch {
            box.release()
            throw error
        }
        self.box = box
    }

    deinit {
        close()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        rd_kafka_destroy(handle)
        box.release()
    }

    func requireOpen() throws(KafkaError) {
        guard !isClosed else { throw KafkaError(.closed, "the administrator's handle is closed") }
    }

    /// Runs one request of the admin API and reads its result.
    func perform<Output>(
        _ operation: rd_kafka_admin_op_t,
        _ doing: String,
        request: (_ options: OpaquePointer?, _ queue: OpaquePointer) -> Void,
        read: (OpaquePointer) throws(KafkaError) -> Output
    ) throws(KafkaError) -> Output {
        try requireOpen()
        // Each request has its own queue, so that a late answer is never taken for that of another
        // request.
        guard let queue = rd_kafka_queue_new(handle) else {
            throw KafkaError(.other, "librdkafka has no memory for a queue")
        }
        defer { rd_kafka_queue_destroy(queue) }
        let options = rd_kafka_AdminOptions_new(handle, operation)
        defer { rd_kafka_AdminOptions_destroy(options) }
        rd_kafka_AdminOptions_set_request_timeout(options, 10_000, nil, 0)
        request(options, queue)
        guard let event = rd_kafka_queue_poll(queue, 12_000) else {
            throw KafkaError(.timedOut, "\(doing): the broker did not answer", isRetriable: true)
        }
        defer { rd_kafka_event_destroy(event) }
        let error = rd_kafka_event_error(event)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(error, doing) }
        return try read(event)
    }

    func createTopics(_ topics: [KafkaTopicDefinition]) throws(KafkaError) -> [String] {
        var definitions: [OpaquePointer?] = []
        defer { definitions.forEach { rd_kafka_NewTopic_destroy($0) } }
        for topic in topics {
            let definition = rd_kafka_NewTopic_new(
                topic.name,
                Int32(topic.partitions),
                Int32(topic.replicationFactor),
                nil,
                0
            )
            for (name, value) in topic.configuration {
                rd_kafka_NewTopic_set_config(definition, name, value)
            }
            definitions.append(definition)
        }
        return try perform(RD_KAFKA_ADMIN_OP_CREATETOPICS, "making topics") { options, queue in
            definitions.withUnsafeMutableBufferPointer { buffer in
                rd_kafka_CreateTopics(handle, buffer.baseAddress, buffer.count, options, queue)
            }
        } read: { event throws(KafkaError) in
            var created: [String] = []
            var count = 0
            let result = rd_kafka_event_CreateTopics_result(event)
            let topics = rd_kafka_CreateTopics_result_topics(result, &count)
            for index in 0..<count {
                guard let topic = topics?[index], let name = rd_kafka_topic_result_name(topic)
                else { continue }
                switch rd_kafka_topic_result_error(topic) {
                case RD_KAFKA_RESP_ERR_NO_ERROR: created.append(String(cString: name))
                case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS: continue
                case let error:
                    throw KafkaError(error, "making the topic \(String(cString: name))")
                }
            }
            return created
        }
    }

    func deleteTopics(_ names: [String]) throws(KafkaError) {
        var topics: [OpaquePointer?] = names.map { rd_kafka_DeleteTopic_new($0) }
        defer { topics.forEach { rd_kafka_DeleteTopic_destroy($0) } }
        try perform(RD_KAFKA_ADMIN_OP_DELETETOPICS, "deleting topics") { options, queue in
            topics.withUnsafeMutableBufferPointer { buffer in
                rd_kafka_DeleteTopics(handle, buffer.baseAddress, buffer.count, options, queue)
            }
        } read: { event throws(KafkaError) in
            var count = 0
            let result = rd_kafka_event_DeleteTopics_result(event)
            let topics = rd_kafka_DeleteTopics_result_topics(result, &count)
            for index in 0..<count {
                guard let topic = topics?[index] else { continue }
                let error = rd_kafka_topic_result_error(topic)
                guard
                    error == RD_KAFKA_RESP_ERR_NO_ERROR
                        || error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
                else { throw KafkaError(error, "deleting a topic") }
            }
        }
    }

    func committedOffsets(
        group: String,
        partitions: [KafkaTopicPartition]
    ) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
        guard !partitions.isEmpty else { return [:] }
        let list = RDKafkaPartitionList(partitions)
        var request: OpaquePointer? = rd_kafka_ListConsumerGroupOffsets_new(group, list.pointer)
        defer { rd_kafka_ListConsumerGroupOffsets_destroy(request) }
        return try perform(
            RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS,
            "reading the offsets of \(group)"
        ) { options, queue in
            rd_kafka_ListConsumerGroupOffsets(handle, &request, 1, options, queue)
        } read: { event throws(KafkaError) in
            var count = 0
            let result = rd_kafka_event_ListConsumerGroupOffsets_result(event)
            let groups = rd_kafka_ListConsumerGroupOffsets_result_groups(result, &count)
            var offsets: [KafkaTopicPartition: Int64] = [:]
            for index in 0..<count {
                guard let found = groups?[index] else { continue }
                if let error = rd_kafka_group_result_error(found) {
                    // The event owns the error, so it is read but not freed.
                    throw KafkaError(
                        rd_kafka_error_code(error),
                        "reading the offsets of \(group)"
                    )
                }
                let elements = RDKafkaPartitionList.elements(
                    of: rd_kafka_group_result_partitions(found)
                )
                for element in elements where element.offset >= 0 {
                    offsets[element.partition] = element.offset
                }
            }
            return offsets
        }
    }

    func watermarks(of partition: KafkaTopicPartition) throws(KafkaError) -> (Int64, Int64) {
        try requireOpen()
        var low: Int64 = 0
        var high: Int64 = 0
        let error = rd_kafka_query_watermark_offsets(
            handle,
            partition.topic,
            partition.partition,
            &low,
            &high,
            10_000
        )
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw KafkaError(error, "reading the watermarks of \(partition.topic)")
        }
        return (low, high)
    }

    func offsets(
        for times: [KafkaTopicPartition: Int64]
    ) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
        try requireOpen()
        let list = RDKafkaPartitionList(times)
        let error = rd_kafka_offsets_for_times(handle, list.pointer, 10_000)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw KafkaError(error, "looking up offsets by time")
        }
        try list.requireNoError("looking up the offset of")
        return Dictionary(list.elements.map { ($0.partition, $0.offset) }) { first, _ in first }
    }
}

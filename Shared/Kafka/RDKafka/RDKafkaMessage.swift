import CLibrdkafka

/// Copies messages out of librdkafka's memory.
enum RDKafkaMessage {
    static func read(_ message: UnsafeMutablePointer<rd_kafka_message_t>) -> KafkaMessage {
        var timestampType = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = rd_kafka_message_timestamp(message, &timestampType)
        return KafkaMessage(
            topic: String(cString: rd_kafka_topic_name(message.pointee.rkt)),
            partition: message.pointee.partition,
            offset: message.pointee.offset,
            key: bytes(message.pointee.key, message.pointee.key_len),
            value: bytes(message.pointee.payload, message.pointee.len),
            packedHeaders: headers(message),
            timestampMilliseconds: timestamp
        )
    }

    private static func bytes(_ pointer: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
        guard let pointer else { return nil }
        return Array(UnsafeRawBufferPointer(start: pointer, count: count))
    }

    private static func headers(
        _ message: UnsafeMutablePointer<rd_kafka_message_t>
    ) -> KafkaHeaders {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list
        else { return KafkaHeaders([]) }
        // The headers of an event.
        var headers = KafkaHeaders(capacity: 512)
        for index in 0..<rd_kafka_header_cnt(list) {
            var name: UnsafePointer<CChar>?
            var value: UnsafeRawPointer?
            var size = 0
            guard
                rd_kafka_header_get_all(list, index, &name, &value, &size)
                    == RD_KAFKA_RESP_ERR_NO_ERROR,
                let name
            else { continue }
            var length = 0
            while name[length] != 0 { length += 1 }
            headers.append(UnsafeRawBufferPointer(start: name, count: length))
            headers.append(UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : size))
        }
        return headers
    }
}

/// Reads a handle's metadata of topics.
enum RDKafkaMetadata {
    /// The number of partitions of a topic; `nil` if it does not exist.
    static func partitionCount(
        of topic: String,
        _ handle: OpaquePointer
    ) throws(KafkaError) -> Int? {
        guard let pointer = rd_kafka_topic_new(handle, topic, nil) else {
            throw KafkaError(rd_kafka_last_error(), "looking up the topic \(topic)")
        }
        defer { rd_kafka_topic_destroy(pointer) }
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let error = rd_kafka_metadata(handle, 0, pointer, &metadata, 5000)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else {
            throw KafkaError(error, "looking up the topic \(topic)")
        }
        defer { rd_kafka_metadata_destroy(metadata) }
        guard metadata.pointee.topic_cnt == 1, let found = metadata.pointee.topics else {
            return nil
        }
        switch found.pointee.err {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
            return found.pointee.partition_cnt > 0 ? Int(found.pointee.partition_cnt) : nil
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
            return nil
        default:
            throw KafkaError(found.pointee.err, "looking up the topic \(topic)")
        }
    }
}

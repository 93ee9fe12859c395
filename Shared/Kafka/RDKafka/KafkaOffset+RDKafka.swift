import CLibrdkafka

extension KafkaOffset {
    /// The offset as librdkafka's number.
    var number: Int64 {
        switch self {
        case .beginning: Int64(RD_KAFKA_OFFSET_BEGINNING)
        case .end: Int64(RD_KAFKA_OFFSET_END)
        case .at(let offset): offset
        }
    }
}

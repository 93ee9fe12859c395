import CLibrdkafka

extension KafkaError {
    /// Converts an error code of librdkafka.
    init(_ code: rd_kafka_resp_err_t, _ doing: String) {
        self.init(code, words: String(cString: rd_kafka_err2str(code)), doing)
    }

    /// Converts an error object of librdkafka, and frees it.
    init(consuming error: OpaquePointer, _ doing: String) {
        self.init(
            rd_kafka_error_code(error),
            words: String(cString: rd_kafka_error_string(error)),
            isRetriable: rd_kafka_error_is_retriable(error) != 0,
            isFatal: rd_kafka_error_is_fatal(error) != 0,
            doing
        )
        rd_kafka_error_destroy(error)
    }

    private init(
        _ code: rd_kafka_resp_err_t,
        words: String,
        isRetriable: Bool = false,
        isFatal: Bool = false,
        _ doing: String
    ) {
        let (kind, mayPass): (Code, Bool) =
            switch code {
            case RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
                RD_KAFKA_RESP_ERR__RESOLVE, RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE,
                RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION,
                RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
                RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
                RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
                (.brokerUnavailable, true)
            case RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__MSG_TIMED_OUT,
                RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
                RD_KAFKA_RESP_ERR__WAIT_COORD:
                (.timedOut, true)
            case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
                RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
                (.unknownTopic, true)
            case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
                RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
                RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
                (.notAuthorized, false)
            case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
                (.messageTooLarge, false)
            case RD_KAFKA_RESP_ERR__QUEUE_FULL: (.queueFull, true)
            case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
                RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
                (.illegalGeneration, false)
            case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID: (.unknownMember, false)
            case RD_KAFKA_RESP_ERR__FATAL: (.fatal, false)
            case RD_KAFKA_RESP_ERR__INVALID_ARG: (.configuration, false)
            case RD_KAFKA_RESP_ERR__PURGE_QUEUE, RD_KAFKA_RESP_ERR__PURGE_INFLIGHT,
                RD_KAFKA_RESP_ERR__DESTROY:
                (.closed, false)
            default: (.other, false)
            }
        self.init(
            kind,
            "\(doing): \(words)",
            isRetriable: isRetriable || mayPass,
            isFatal: isFatal || kind == .fatal
        )
    }
}

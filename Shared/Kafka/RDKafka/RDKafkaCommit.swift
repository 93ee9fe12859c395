import CLibrdkafka

/// A commit of offsets, and the broker's answer.
///
/// It has a queue of its own. Without one, librdkafka would wait for an unreachable broker as long as a
/// session of the group. An answer that comes after this object is freed is dropped with the queue.
final class RDKafkaCommit {
    private let answers: OpaquePointer
    /// Written by the callback, which runs in ``answer(within:)`` only.
    private let outcome: UnsafeMutablePointer<rd_kafka_resp_err_t>
    /// The value before the answer.
    private static var unanswered: rd_kafka_resp_err_t { RD_KAFKA_RESP_ERR__TIMED_OUT }

    /// Begins a commit.
    ///
    /// - Throws: ``KafkaError`` if librdkafka refuses it.
    init(
        _ next: [KafkaTopicPartition: Int64],
        of handle: OpaquePointer
    ) throws(KafkaError) {
        answers = rd_kafka_queue_new(handle)
        outcome = .allocate(capacity: 1)
        outcome.initialize(to: Self.unanswered)
        let list = RDKafkaPartitionList(next)
        let refusal = rd_kafka_commit_queue(
            handle,
            list.pointer,
            answers,
            { _, error, list, outcome in
                let partitions = RDKafkaPartitionList.elements(of: UnsafePointer(list))
                let failed = partitions.first { $0.error != RD_KAFKA_RESP_ERR_NO_ERROR }
                outcome?.storeBytes(
                    of: error == RD_KAFKA_RESP_ERR_NO_ERROR ? failed?.error ?? error : error,
                    as: rd_kafka_resp_err_t.self
                )
            },
            outcome
        )
        guard refusal == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw KafkaError(refusal, "committing offsets")
        }
    }

    deinit {
        rd_kafka_queue_destroy(answers)
        outcome.deallocate()
    }

    /// The error of a commit that the broker has not answered in time.
    static var timeout: KafkaError { KafkaError(unanswered, "committing offsets") }

    /// Waits for the answer.
    ///
    /// - Returns: The answer; `nil` if it has not come in time.
    func answer(within duration: Duration) -> Result<Void, KafkaError>? {
        rd_kafka_queue_poll_callback(answers, Int32(duration.inMilliseconds))
        switch outcome.pointee {
        case Self.unanswered: return nil
        case RD_KAFKA_RESP_ERR_NO_ERROR: return .success(())
        case let error: return .failure(KafkaError(error, "committing offsets"))
        }
    }
}

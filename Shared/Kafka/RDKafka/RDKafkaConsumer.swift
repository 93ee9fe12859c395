import CLibrdkafka
import Foundation
import Logging

/// The consuming handle.
///
/// Every call is made on one thread, the consumer's, and so are its callbacks, because they run
/// inside ``poll(max:timeout:)`` and ``close()``; the last of them perhaps on the thread that waits
/// for the end of what ``close()`` began.
///
/// Order of destruction: close (the last revocation is called back), destroy the queue, destroy the
/// handle, release the box that its callbacks reach.
final class RDKafkaConsumer {
    private let handle: OpaquePointer
    private let queue: OpaquePointer
    private let box: Unmanaged<CallbackBox>
    private var buffer: UnsafeMutableBufferPointer<UnsafeMutablePointer<rd_kafka_message_t>?>
    private var isClosed = false
    /// How long a commit waits for the broker.
    private static let commitTimeoutMilliseconds = Int32(3000)
    /// How long ``close()`` waits for the group to be left.
    private static let closeTimeout = Duration.seconds(5)

    /// Makes a consumer.
    ///
    /// - Parameters:
    ///   - settings: How to reach the brokers.
    ///   - group: The group it is a member of; `nil` for one that is told its partitions.
    ///   - logger: Gets what librdkafka logs.
    /// - Throws: ``KafkaError`` when librdkafka refuses the settings.
    init(settings: KafkaSettings, group: String?, logger: Logger) throws(KafkaError) {
        let box = Unmanaged.passRetained(CallbackBox(logger: logger))
        do {
            let configuration = try RDKafkaConfiguration.make(
                settings,
                defaults: [
                    // Nothing is joined without a group, but librdkafka wants a name, and asks for
                    // its coordinator: one that the client has a right to.
                    "group.id": group ?? settings.clientID,
                    "enable.auto.commit": "false",
                    "enable.auto.offset.store": "false",
                    "auto.offset.reset": "earliest",
                    // How long the partitions of a process that was killed are nobody's. Whom a
                    // rebalance takes by surprise does nothing twice, so nothing is won by the 45 s
                    // that are usual.
                    "session.timeout.ms": "10000",
                    "allow.auto.create.topics": "false",
                    "fetch.error.backoff.ms": "100",
                    "queued.max.messages.kbytes": "16384",
                ],
                opaque: box
            )
            rd_kafka_conf_set_rebalance_cb(configuration) { handle, error, list, opaque in
                guard let handle, let opaque else { return }
                let box = Unmanaged<CallbackBox>.fromOpaque(opaque).takeUnretainedValue()
                RDKafkaConsumer.rebalance(handle, error, list, box)
            }
            handle = try RDKafkaConfiguration.makeHandle(RD_KAFKA_CONSUMER, configuration)
        } catch {
            box.release()
            throw error
        }
        self.box = box
        rd_kafka_poll_set_consumer(handle)
        queue = rd_kafka_queue_get_consumer(handle)
        buffer = .allocate(capacity: 1024)
    }

    deinit {
        close()
    }

    private static func rebalance(
        _ handle: OpaquePointer,
        _ error: rd_kafka_resp_err_t,
        _ list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?,
        _ box: CallbackBox
    ) {
        let partitions = RDKafkaPartitionList.elements(of: UnsafePointer(list)).map(\.partition)
        let isCooperative = String(cString: rd_kafka_rebalance_protocol(handle)) == "COOPERATIVE"
        if error == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
            box.assigned += partitions
            if isCooperative {
                destroy(rd_kafka_incremental_assign(handle, list))
            } else {
                rd_kafka_assign(handle, list)
            }
        } else {
            box.revoked += partitions
            box.assigned.removeAll { partitions.contains($0) }
            if isCooperative {
                destroy(rd_kafka_incremental_unassign(handle, list))
            } else {
                rd_kafka_assign(handle, nil)
            }
        }
    }

    /// An error of an incremental rebalance says that the group has moved on; the next rebalance
    /// follows by itself.
    private static func destroy(_ error: OpaquePointer?) {
        if let error { rd_kafka_error_destroy(error) }
    }

    func subscribe(_ topics: [String]) throws(KafkaError) {
        let list = RDKafkaPartitionList(topics: topics)
        let error = rd_kafka_subscribe(handle, list.pointer)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw KafkaError(error, "subscribing to \(topics.joined(separator: ", "))")
        }
    }

    /// Adds partitions to those read, each from an offset.
    func assign(_ offsets: [KafkaTopicPartition: Int64]) throws(KafkaError) {
        let list = RDKafkaPartitionList(offsets)
        if let error = rd_kafka_incremental_assign(handle, list.pointer) {
            throw KafkaError(consuming: error, "assigning partitions")
        }
    }

    func poll(max: Int, timeout: Duration) throws(KafkaError) -> KafkaPoll {
        try requireOpen()
        if buffer.count < max {
            buffer.deallocate()
            buffer = .allocate(capacity: max)
        }
        var messages: [KafkaMessage] = []
        var failure: KafkaError?
        // The first message is waited for; what else is there by then is taken along.
        var count = rd_kafka_consume_batch_queue(
            queue,
            Int32(timeout.inMilliseconds),
            buffer.baseAddress,
            1
        )
        take(count, &messages, &failure)
        if count == 1, max > 1 {
            count = rd_kafka_consume_batch_queue(queue, 0, buffer.baseAddress, max - 1)
            messages.reserveCapacity(Swift.max(0, count) + 1)
            take(count, &messages, &failure)
        }
        if let failure { throw failure }
        let callbacks = box.takeUnretainedValue()
        defer {
            callbacks.assigned = []
            callbacks.revoked = []
        }
        // What was read from a partition that was revoked in the same poll is another's to do.
        if !callbacks.revoked.isEmpty {
            let revoked = Set(callbacks.revoked).subtracting(callbacks.assigned)
            messages.removeAll { revoked.contains($0.topicPartition) }
        }
        return KafkaPoll(
            messages: messages,
            assigned: callbacks.assigned,
            revoked: callbacks.revoked
        )
    }

    private func take(
        _ count: Int,
        _ messages: inout [KafkaMessage],
        _ failure: inout KafkaError?
    ) {
        for index in 0..<max(0, count) {
            guard let message = buffer[index] else { continue }
            if message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR {
                messages.append(RDKafkaMessage.read(message))
            } else if rd_kafka_fatal_error(handle, nil, 0) != RD_KAFKA_RESP_ERR_NO_ERROR {
                failure = KafkaError(RD_KAFKA_RESP_ERR__FATAL, "consuming")
            }
            // Other errors (a topic that does not exist yet, a broker that is away) are states that
            // librdkafka mends by itself.
            rd_kafka_message_destroy(message)
        }
    }

    func commit(_ next: [KafkaTopicPartition: Int64]) throws(KafkaError) {
        try requireOpen()
        let list = RDKafkaPartitionList(next)
        // A queue of its own, because without one it would wait for a broker that is away as long as
        // a session of the group lasts. An answer that comes later finds the queue gone.
        let answers = rd_kafka_queue_new(handle)
        defer { rd_kafka_queue_destroy(answers) }
        var answer = RD_KAFKA_RESP_ERR__TIMED_OUT
        let refusal = withUnsafeMutablePointer(to: &answer) { answer in
            let refusal = rd_kafka_commit_queue(
                handle,
                list.pointer,
                answers,
                { _, error, list, answer in
                    let partitions = RDKafkaPartitionList.elements(of: UnsafePointer(list))
                    let failed = partitions.first { $0.error != RD_KAFKA_RESP_ERR_NO_ERROR }
                    answer?.storeBytes(
                        of: error == RD_KAFKA_RESP_ERR_NO_ERROR ? failed?.error ?? error : error,
                        as: rd_kafka_resp_err_t.self
                    )
                },
                answer
            )
            if refusal == RD_KAFKA_RESP_ERR_NO_ERROR {
                rd_kafka_queue_poll_callback(answers, Self.commitTimeoutMilliseconds)
            }
            return refusal
        }
        for error in [refusal, answer] where error != RD_KAFKA_RESP_ERR_NO_ERROR {
            throw KafkaError(error, "committing offsets")
        }
    }

    func seek(_ partition: KafkaTopicPartition, to offset: Int64) throws(KafkaError) {
        try requireOpen()
        let list = RDKafkaPartitionList([partition: offset])
        if let error = rd_kafka_seek_partitions(handle, list.pointer, 10_000) {
            throw KafkaError(consuming: error, "seeking")
        }
        try list.requireNoError("seeking in")
    }

    func pause(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
        try requireOpen()
        let list = RDKafkaPartitionList(partitions)
        let error = rd_kafka_pause_partitions(handle, list.pointer)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(error, "pausing") }
        try list.requireNoError("pausing")
    }

    func resume(_ partitions: [KafkaTopicPartition]) throws(KafkaError) {
        try requireOpen()
        let list = RDKafkaPartitionList(partitions)
        let error = rd_kafka_resume_partitions(handle, list.pointer)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(error, "resuming") }
        try list.requireNoError("resuming")
    }

    func assignment() throws(KafkaError) -> [KafkaTopicPartition] {
        try requireOpen()
        var list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
        let error = rd_kafka_assignment(handle, &list)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR, let list else {
            throw KafkaError(error, "reading the assignment")
        }
        defer { rd_kafka_topic_partition_list_destroy(list) }
        return RDKafkaPartitionList.elements(of: UnsafePointer(list)).map(\.partition)
    }

    /// How many partitions a topic has; `nil` if it does not exist.
    func partitionCount(of topic: String) throws(KafkaError) -> Int? {
        try requireOpen()
        return try RDKafkaMetadata.partitionCount(of: topic, handle)
    }

    /// Leaves the group and frees the handle.
    ///
    /// librdkafka waits up to a session of the group for the answer to a commit that a broker which is
    /// away still owes. Nothing hangs on that answer, so after five seconds a thread of its own waits
    /// on, and frees the handle then.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        buffer.deallocate()
        let leaving = LeavingConsumer(handle: handle, queue: queue, box: box)
        let hasBegun = leaving.begin()
        if hasBegun, leaving.hasLeft(by: .now + Self.closeTimeout) {
            leaving.free()
        } else {
            Thread.detachNewThread {
                Thread.current.name = "kafka-leaving"
                while hasBegun, !leaving.hasLeft(by: .now + Self.closeTimeout) {}
                leaving.free()
            }
        }
    }

    private func requireOpen() throws(KafkaError) {
        guard !isClosed else { throw KafkaError(.closed, "the consumer is closed") }
    }
}

/// What is left of a consumer that leaves its group.
///
/// `@unchecked`: it is one thread's at a time, the consumer's and then perhaps one of its own.
private struct LeavingConsumer: @unchecked Sendable {
    let handle: OpaquePointer
    let queue: OpaquePointer
    let box: Unmanaged<CallbackBox>

    /// Begins to leave.
    ///
    /// - Returns: Whether it has. After a fatal error it cannot; freeing the handle leaves then, and
    ///   may take as long as a session of the group.
    func begin() -> Bool {
        guard let error = rd_kafka_consumer_close_queue(handle, queue) else { return true }
        rd_kafka_error_destroy(error)
        return false
    }

    /// Serves the last callbacks until the group is left.
    ///
    /// - Returns: Whether it was left in time.
    func hasLeft(by deadline: ContinuousClock.Instant) -> Bool {
        while rd_kafka_consumer_closed(handle) == 0 {
            guard ContinuousClock.now < deadline else { return false }
            // What was fetched and not polled is read again by whoever is assigned next.
            if let message = rd_kafka_consumer_poll(handle, 100) {
                rd_kafka_message_destroy(message)
            }
        }
        return true
    }

    func free() {
        rd_kafka_queue_destroy(queue)
        rd_kafka_destroy(handle)
        box.release()
    }
}

extension Duration {
    var inMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}

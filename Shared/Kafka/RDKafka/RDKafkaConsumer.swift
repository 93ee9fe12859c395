import CLibrdkafka
import Foundation
import Logging

/// The consuming handle.
///
/// Every call is made on one thread, that of the consumer. Its callbacks run there too, because
/// they run inside ``poll(max:timeout:)`` and ``close()``. Only the last of them may run on the
/// thread that waits for the end of a ``close()``.
///
/// The order of destruction: close (which calls back the last revocation), destroy the queue,
/// destroy the handle, release the box that its callbacks use.
final class RDKafkaConsumer {
    private let handle: OpaquePointer
    private let queue: OpaquePointer
    /// Ends a wait in ``poll(max:timeout:)``; usable from any thread.
    let waker: RDKafkaWaker
    private let box: Unmanaged<CallbackBox>
    private var buffer: UnsafeMutableBufferPointer<UnsafeMutablePointer<rd_kafka_message_t>?>
    private var isClosed = false
    /// Whether it has joined a group.
    private var isMember = false
    /// The commit that was begun and has no answer yet.
    private var openCommit: RDKafkaCommit?
    private var openCommitEndsAt = ContinuousClock.now
    /// The longest time a commit waits for the broker.
    private static let commitTimeout = Duration.seconds(3)
    /// The longest time ``close()`` waits for the consumer to leave its group.
    private static let closeTimeout = Duration.seconds(5)

    /// Makes a consumer.
    ///
    /// - Parameters:
    ///   - settings: How to reach the brokers.
    ///   - group: The group it joins; `nil` for a consumer whose partitions are assigned by hand.
    ///   - logger: Receives librdkafka's log messages.
    /// - Throws: ``KafkaError`` if librdkafka refuses the settings.
    init(settings: KafkaSettings, group: String?, logger: Logger) throws(KafkaError) {
        let box = Unmanaged.passRetained(CallbackBox(logger: logger))
        do {
            let configuration = try RDKafkaConfiguration.make(
                // Without a group it reads partitions that its owner has found.
                group == nil ? settings.refreshingTopics(every: .seconds(10)) : settings,
                defaults: [
                    // A consumer without a group joins none, but librdkafka requires a name and
                    // asks for its coordinator, so the name must be one that the client may use.
                    "group.id": group ?? settings.clientID,
                    "enable.auto.commit": "false",
                    "enable.auto.offset.store": "false",
                    "auto.offset.reset": "earliest",
                    // The time for which the partitions of a killed process have no consumer. A
                    // member that loses its partitions by mistake does no harm, because no event is
                    // applied twice. The usual 45 s would have no advantage.
                    "session.timeout.ms": "10000",
                    "allow.auto.create.topics": "false",
                    "fetch.error.backoff.ms": "100",
                    // Behind a backlog, each of a service's consumers keeps this much in memory, and what
                    // one fetch brings. It is several batches. librdkafka fetches on when it has less, and
                    // looks that often.
                    "queued.max.messages.kbytes": "2048",
                    "fetch.max.bytes": "\(settings.fetchBytesMax)",
                    "fetch.queue.backoff.ms": "50",
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
        waker = RDKafkaWaker(RDKafkaPointer(queue))
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
            box.assigned(partitions)
            if isCooperative {
                destroy(rd_kafka_incremental_assign(handle, list))
            } else {
                rd_kafka_assign(handle, list)
            }
        } else {
            box.revoked(partitions)
            if isCooperative {
                destroy(rd_kafka_incremental_unassign(handle, list))
            } else {
                rd_kafka_assign(handle, nil)
            }
        }
    }

    /// Frees an error of an incremental rebalance.
    ///
    /// It means that the group has a new generation; the next rebalance follows by itself.
    private static func destroy(_ error: OpaquePointer?) {
        if let error { rd_kafka_error_destroy(error) }
    }

    func subscribe(_ topics: [String]) throws(KafkaError) {
        let list = RDKafkaPartitionList(topics: topics)
        let error = rd_kafka_subscribe(handle, list.pointer)
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw KafkaError(error, "subscribing to \(topics.joined(separator: ", "))")
        }
        isMember = true
    }

    /// Assigns further partitions, each from an offset.
    func assign(_ offsets: [KafkaTopicPartition: KafkaOffset]) throws(KafkaError) {
        let list = RDKafkaPartitionList(offsets.mapValues(\.number))
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
        // The call waits for the first message and then takes all others that have arrived.
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
        let rebalances = box.takeUnretainedValue().takeRebalances()
        // If a partition was revoked in the same poll, its messages belong to another consumer.
        if !rebalances.revoked.isEmpty {
            let revoked = Set(rebalances.revoked).subtracting(rebalances.assigned)
            messages.removeAll { revoked.contains($0.topicPartition) }
        }
        return KafkaPoll(
            messages: messages,
            assigned: rebalances.assigned,
            revoked: rebalances.revoked,
            awaitsPartitions: isMember && !rebalances.isSettled,
            commitAnswer: takeAnswer()
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
            // librdkafka recovers from other errors by itself, such as a topic that does not exist
            // yet or an unreachable broker.
            rd_kafka_message_destroy(message)
        }
    }

    func commit(_ next: [KafkaTopicPartition: Int64]) throws(KafkaError) {
        try requireOpen()
        let commit = try RDKafkaCommit(next, of: handle)
        guard let answer = commit.answer(within: Self.commitTimeout) else {
            throw RDKafkaCommit.timeout
        }
        try answer.get()
    }

    /// Begins a commit, whose answer a later ``poll(max:timeout:)`` returns.
    func beginCommit(_ next: [KafkaTopicPartition: Int64]) throws(KafkaError) {
        try requireOpen()
        openCommit = try RDKafkaCommit(next, of: handle)
        openCommitEndsAt = .now + Self.commitTimeout
    }

    /// Takes the answer to the commit that was begun, once it is there or its time is over.
    private func takeAnswer() -> Result<Void, KafkaError>? {
        guard let commit = openCommit else { return nil }
        if let answer = commit.answer(within: .zero) {
            openCommit = nil
            return answer
        }
        guard ContinuousClock.now >= openCommitEndsAt else { return nil }
        openCommit = nil
        return .failure(RDKafkaCommit.timeout)
    }

    func committed(
        _ partitions: [KafkaTopicPartition]
    ) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
        try requireOpen()
        let list = RDKafkaPartitionList(partitions)
        let error = rd_kafka_committed(
            handle,
            list.pointer,
            Int32(Self.commitTimeout.inMilliseconds)
        )
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw KafkaError(error, "reading committed offsets")
        }
        var offsets: [KafkaTopicPartition: Int64] = [:]
        for element in list.elements where element.offset >= 0 {
            offsets[element.partition] = element.offset
        }
        return offsets
    }

    func seek(_ partition: KafkaTopicPartition, to offset: KafkaOffset) throws(KafkaError) {
        try requireOpen()
        let list = RDKafkaPartitionList([partition: offset.number])
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

    /// The number of partitions of a topic; `nil` if it does not exist.
    func partitionCount(of topic: String) throws(KafkaError) -> Int? {
        try requireOpen()
        return try RDKafkaMetadata.partitionCount(of: topic, handle)
    }

    /// Leaves the group and frees the handle.
    ///
    /// If the broker is unreachable, librdkafka waits up to a session of the group for the answer
    /// to a commit. Nothing depends on that answer, so after five seconds a separate thread
    /// continues the wait and frees the handle then.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        openCommit = nil
        waker.close()
        buffer.deallocate()
        let leaving = LeavingConsumer(
            handle: RDKafkaPointer(handle),
            queue: RDKafkaPointer(queue),
            box: box
        )
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

/// The resources of a consumer that is leaving its group.
private struct LeavingConsumer: Sendable {
    let handle: RDKafkaPointer
    let queue: RDKafkaPointer
    let box: Unmanaged<CallbackBox>

    /// Begins to leave the group.
    ///
    /// - Returns: Whether it has begun. After a fatal error it cannot. Freeing the handle then
    ///   leaves the group, and may take as long as a session of the group.
    func begin() -> Bool {
        guard let error = rd_kafka_consumer_close_queue(handle.raw, queue.raw) else { return true }
        rd_kafka_error_destroy(error)
        return false
    }

    /// Serves the last callbacks until the consumer has left the group.
    ///
    /// - Returns: Whether it has left in time.
    func hasLeft(by deadline: ContinuousClock.Instant) -> Bool {
        while rd_kafka_consumer_closed(handle.raw) == 0 {
            guard ContinuousClock.now < deadline else { return false }
            // Fetched messages that were not polled are read again by the next consumer of the
            // partition.
            if let message = rd_kafka_consumer_poll(handle.raw, 100) {
                rd_kafka_message_destroy(message)
            }
        }
        return true
    }

    func free() {
        rd_kafka_queue_destroy(queue.raw)
        rd_kafka_destroy(handle.raw)
        box.release()
    }
}

extension Duration {
    var inMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}

import CLibrdkafka
import Dispatch
import Foundation
import Logging
import Synchronization

/// The producing handle.
///
/// librdkafka's threads send; one thread of ours serves the delivery reports.
///
/// The order of destruction: flush, purge the remaining messages (whose reports still come), stop
/// the serving thread, destroy the handle, release the box that its callbacks use.
final class RDKafkaProducer: Sendable {
    private let handle: RDKafkaPointer
    private let box: Unmanaged<CallbackBox>
    private let lifetime = Mutex(Lifetime())
    /// Signalled once by the last sender, if ``close(flushing:)`` waits for it.
    private let lastHasSent = DispatchSemaphore(value: 0)

    /// The handle is destroyed after the last sender has left and the serving thread has stopped.
    private struct Lifetime {
        var senders = 0
        var isClosing = false
        var isServing = true
    }

    init(settings: KafkaSettings, logger: Logger) throws(KafkaError) {
        let box = Unmanaged.passRetained(CallbackBox(logger: logger))
        do {
            let configuration = try RDKafkaConfiguration.make(
                // Until it knows of new partitions, it refuses messages for them.
                settings.refreshingTopics(every: .seconds(5)),
                defaults: [
                    // A broker would make a missing topic with its own number of partitions.
                    "allow.auto.create.topics": "false",
                    "enable.idempotence": "true",
                    "acks": "all",
                    "linger.ms": "2",
                    "batch.num.messages": "10000",
                    "queue.buffering.max.messages": "500000",
                    "message.timeout.ms": "30000",
                ],
                opaque: box
            )
            rd_kafka_conf_set_dr_msg_cb(configuration) { _, message, _ in
                guard let message else { return }
                DeliveryBatch.report(message)
            }
            handle = RDKafkaPointer(
                try RDKafkaConfiguration.makeHandle(RD_KAFKA_PRODUCER, configuration)
            )
        } catch {
            box.release()
            throw error
        }
        self.box = box
        let thread = Thread { [self] in
            serve()
        }
        thread.name = "kafka-reports"
        thread.start()
    }

    /// Hands a batch to librdkafka; the batch resumes its waiter when every report is in.
    func send(_ batch: DeliveryBatch) {
        let isOpen = lifetime.withLock { lifetime in
            if !lifetime.isClosing { lifetime.senders += 1 }
            return !lifetime.isClosing
        }
        guard isOpen else {
            batch.fail(KafkaError(.closed, "the producer is closed"))
            return
        }
        var refusal: KafkaError?
        for index in batch.records.indices {
            // After a refusal no later record is sent, because that could break the order of its
            // key.
            if refusal == nil,
                let error = produce(batch.records[index], reporting: batch.slot(index))
            {
                refusal = KafkaError(consuming: error, "producing a message")
            }
            if let refusal { batch.settle(index, .failure(refusal)) }
        }
        let isAwaited = lifetime.withLock { lifetime in
            lifetime.senders -= 1
            return lifetime.isClosing && lifetime.senders == 0
        }
        if isAwaited { lastHasSent.signal() }
    }

    /// Waits at most the given time for messages in flight, fails the others, and frees the handle.
    ///
    /// It blocks. Safe to call twice.
    func close(flushing duration: Duration) {
        let senders: Int? = lifetime.withLock { lifetime in
            guard !lifetime.isClosing else { return nil }
            lifetime.isClosing = true
            return lifetime.senders
        }
        guard let senders else { return }
        if senders > 0 { lastHasSent.wait() }
        let milliseconds = Int32(duration.components.seconds * 1000)
        if rd_kafka_flush(handle.raw, milliseconds) != RD_KAFKA_RESP_ERR_NO_ERROR {
            rd_kafka_purge(
                handle.raw,
                Int32(RD_KAFKA_PURGE_F_QUEUE) | Int32(RD_KAFKA_PURGE_F_INFLIGHT)
            )
            rd_kafka_flush(handle.raw, 1000)
        }
        lifetime.withLock { $0.isServing = false }
    }

    private func serve() {
        // A report ends the wait at once.
        repeat { rd_kafka_poll(handle.raw, 1000) } while lifetime.withLock { $0.isServing }
        while rd_kafka_poll(handle.raw, 0) > 0 {}
        rd_kafka_destroy(handle.raw)
        box.release()
    }

    /// - Returns: The error of a message that librdkafka refused.
    private func produce(
        _ record: KafkaRecord,
        reporting slot: UnsafeMutableRawPointer
    ) -> OpaquePointer? {
        let headers = rd_kafka_headers_new(record.headers.count)
        for header in record.headers {
            header.value.withUnsafeBytes { value in
                _ = rd_kafka_header_add(
                    headers,
                    header.name,
                    -1,
                    value.baseAddress,
                    value.count
                )
            }
        }
        let error = record.topic.withCString { topic in
            Self.withBytes(record.key) { key, keyCount in
                Self.withBytes(record.value) { value, valueCount in
                    withUnsafeTemporaryAllocation(of: rd_kafka_vu_t.self, capacity: 7) { fields in
                        var count = 0
                        func add(_ type: rd_kafka_vtype_t, _ set: (inout rd_kafka_vu_t) -> Void) {
                            var field = rd_kafka_vu_t()
                            field.vtype = type
                            set(&field)
                            fields[count] = field
                            count += 1
                        }
                        add(RD_KAFKA_VTYPE_TOPIC) { $0.u.cstr = topic }
                        add(RD_KAFKA_VTYPE_PARTITION) { $0.u.i32 = record.partition ?? -1 }
                        add(RD_KAFKA_VTYPE_MSGFLAGS) { $0.u.i = Int32(RD_KAFKA_MSG_F_COPY) }
                        add(RD_KAFKA_VTYPE_KEY) { $0.u.mem = .init(ptr: key, size: keyCount) }
                        add(RD_KAFKA_VTYPE_VALUE) { $0.u.mem = .init(ptr: value, size: valueCount) }
                        add(RD_KAFKA_VTYPE_OPAQUE) { $0.u.ptr = slot }
                        add(RD_KAFKA_VTYPE_HEADERS) { $0.u.headers = headers }
                        return rd_kafka_produceva(handle.raw, fields.baseAddress, count)
                    }
                }
            }
        }
        // librdkafka owns the headers only if it accepted the message.
        if error != nil { rd_kafka_headers_destroy(headers) }
        return error
    }

    /// Passes bytes to a body.
    ///
    /// An absent key or value is a null pointer; an empty one is not.
    private static func withBytes<Result>(
        _ bytes: [UInt8]?,
        _ body: (UnsafeMutableRawPointer?, Int) -> Result
    ) -> Result {
        guard let bytes else { return body(nil, 0) }
        if bytes.isEmpty {
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1) { empty in
                body(UnsafeMutableRawPointer(empty.baseAddress), 0)
            }
        }
        return bytes.withUnsafeBytes { buffer in
            body(UnsafeMutableRawPointer(mutating: buffer.baseAddress), buffer.count)
        }
    }
}

/// Records that were sent together, and their delivery reports.
///
/// It retains itself from ``init(_:completion:)`` until the last report, because librdkafka keeps
/// bare pointers to its slots.
final class DeliveryBatch: Sendable {
    let records: [KafkaRecord]
    private nonisolated(unsafe) let slots: UnsafeMutablePointer<Slot>  // Only `init` writes it.
    private let state: Mutex<State>
    private let completion: @Sendable (Result<[KafkaDelivery], KafkaError>) -> Void

    /// The target of a message's opaque pointer.
    private struct Slot {
        let batch: Unmanaged<DeliveryBatch>
        let index: Int
    }

    private struct State {
        var deliveries: [KafkaDelivery]
        var missing: Int
        var failure: KafkaError?
    }

    init(
        _ records: [KafkaRecord],
        completion: @escaping @Sendable (Result<[KafkaDelivery], KafkaError>) -> Void
    ) {
        self.records = records
        self.completion = completion
        slots = .allocate(capacity: records.count)
        state = Mutex(
            State(
                deliveries: Array(
                    repeating: KafkaDelivery(partition: -1, offset: -1),
                    count: records.count
                ),
                missing: records.count,
                failure: nil
            )
        )
        let batch = Unmanaged.passRetained(self)
        for index in records.indices {
            slots.advanced(by: index).initialize(to: Slot(batch: batch, index: index))
        }
    }

    deinit {
        slots.deallocate()
    }

    func slot(_ index: Int) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(slots.advanced(by: index))
    }

    /// Processes the report of one message; called on the serving thread.
    static func report(_ message: UnsafePointer<rd_kafka_message_t>) {
        guard let opaque = message.pointee._private else { return }
        let slot = opaque.assumingMemoryBound(to: Slot.self).pointee
        let error = message.pointee.err
        let result: Result<KafkaDelivery, KafkaError> =
            error == RD_KAFKA_RESP_ERR_NO_ERROR
            ? .success(
                KafkaDelivery(partition: message.pointee.partition, offset: message.pointee.offset)
            )
            : .failure(KafkaError(error, "delivering a message"))
        slot.batch.takeUnretainedValue().settle(slot.index, result)
    }

    func settle(_ index: Int, _ result: Result<KafkaDelivery, KafkaError>) {
        let outcome = state.withLock { state in
            switch result {
            case .success(let delivery): state.deliveries[index] = delivery
            case .failure(let error): state.failure = state.failure ?? error
            }
            state.missing -= 1
            return state.missing == 0 ? (state.deliveries, state.failure) : nil
        }
        guard let (deliveries, failure) = outcome else { return }
        completion(failure.map { .failure($0) } ?? .success(deliveries))
        Unmanaged.passUnretained(self).release()
    }

    /// Fails a batch of which no record was sent.
    func fail(_ error: KafkaError) {
        completion(.failure(error))
        Unmanaged.passUnretained(self).release()
    }
}

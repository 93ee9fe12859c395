import CLibrdkafka
import Logging
import Synchronization

/// Builds the configuration of a handle, and owns the box that its callbacks use.
enum RDKafkaConfiguration {
    /// Makes a configuration that logs to a logger.
    ///
    /// The logger's box is retained once for the life of the handle. librdkafka's threads use it in
    /// callbacks until `rd_kafka_destroy` returns; the handle releases it after that.
    ///
    /// - Returns: The configuration, owned by the caller until `rd_kafka_new` takes it over.
    /// - Throws: ``KafkaError/Code/configuration``, naming the property.
    static func make(
        _ settings: KafkaSettings,
        defaults: [String: String],
        opaque: Unmanaged<CallbackBox>
    ) throws(KafkaError) -> OpaquePointer {
        guard let configuration = rd_kafka_conf_new() else {
            throw KafkaError(.other, "librdkafka has no memory for a configuration")
        }
        var properties = defaults
        properties["bootstrap.servers"] = settings.bootstrapServers
        properties["client.id"] = settings.clientID
        properties["log.connection.close"] = "false"
        // With this setting, a topic that is created later is found within a second. Handles that need
        // not find it have another.
        properties["topic.metadata.refresh.interval.ms"] = "1000"
        properties["reconnect.backoff.max.ms"] = "1000"
        // Metrics that a broker may ask for (KIP-714) need a third of a megabyte for each handle and broker.
        properties["enable.metrics.push"] = "false"
        properties.merge(settings.properties) { _, given in given }
        for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
            var reason = [CChar](repeating: 0, count: 512)
            let result = rd_kafka_conf_set(configuration, name, value, &reason, reason.count)
            // Properties of the other kind of handle cause warnings of librdkafka, not errors.
            guard result == RD_KAFKA_CONF_OK else {
                rd_kafka_conf_destroy(configuration)
                // librdkafka's message repeats the value, which may be a secret.
                let problem =
                    result == RD_KAFKA_CONF_UNKNOWN
                    ? "does not exist" : "has a value that does not fit"
                throw KafkaError(.configuration, "the Kafka property \(name) \(problem)")
            }
        }
        rd_kafka_conf_set_opaque(configuration, opaque.toOpaque())
        rd_kafka_conf_set_log_cb(configuration) { handle, level, facility, text in
            guard let handle, let opaque = rd_kafka_opaque(handle), let text else { return }
            let box = Unmanaged<CallbackBox>.fromOpaque(opaque).takeUnretainedValue()
            box.log(level: level, facility: facility, text: text)
        }
        return configuration
    }

    /// Makes a handle from a configuration, and takes the configuration over.
    static func makeHandle(
        _ kind: rd_kafka_type_t,
        _ configuration: OpaquePointer
    ) throws(KafkaError) -> OpaquePointer {
        var reason = [CChar](repeating: 0, count: 512)
        guard let handle = rd_kafka_new(kind, configuration, &reason, reason.count) else {
            rd_kafka_conf_destroy(configuration)
            let end = reason.firstIndex(of: 0) ?? reason.endIndex
            let words = String(
                decoding: reason[..<end].map { UInt8(bitPattern: $0) },
                as: UTF8.self
            )
            throw KafkaError(.configuration, words)
        }
        return handle
    }
}

/// The data that librdkafka's callbacks use: the logger and, for a consumer, the rebalances of the
/// current poll.
final class CallbackBox: Sendable {
    private let logger: Logger
    private let refusals: RefusalNotice
    private let rebalances = Mutex(Rebalances())

    /// The partitions that came and went in the current poll.
    struct Rebalances {
        var assigned: [KafkaTopicPartition] = []
        var revoked: [KafkaTopicPartition] = []
        /// Whether the last rebalance ended with an assignment, which may be empty.
        var isSettled = false
    }

    init(logger: Logger, refusals: RefusalNotice = .shared) {
        self.logger = logger
        self.refusals = refusals
    }

    func assigned(_ partitions: [KafkaTopicPartition]) {
        rebalances.withLock { rebalances in
            rebalances.assigned += partitions
            rebalances.isSettled = true
        }
    }

    func revoked(_ partitions: [KafkaTopicPartition]) {
        rebalances.withLock { rebalances in
            rebalances.revoked += partitions
            rebalances.assigned.removeAll { partitions.contains($0) }
            rebalances.isSettled = false
        }
    }

    /// Returns the rebalances of the current poll, and begins the next poll with none.
    func takeRebalances() -> Rebalances {
        rebalances.withLock { rebalances in
            defer { rebalances = Rebalances(isSettled: rebalances.isSettled) }
            return rebalances
        }
    }

    func log(level: Int32, facility: UnsafePointer<CChar>?, text: UnsafePointer<CChar>) {
        // These are syslog's levels. The callers that wait for an unreachable broker report it, so
        // librdkafka's many lines about each attempt are for debugging. So are its warnings about a
        // property that one kind of handle ignores. Only librdkafka can report that a broker
        // refuses the login or the certificate.
        let facility = facility.map { String(cString: $0) } ?? ""
        let text = String(cString: text)
        let level: Logger.Level =
            switch (level, facility) {
            case (_, "FAIL") where RefusalNotice.isRefusal(text) && refusals.isDue(): .warning
            case (_, "FAIL"), (_, "ERROR"), (_, "CONFWARN"): .debug
            case (...2, _): .error
            case (3...4, _): .info
            default: .debug
            }
        logger.log(
            level: level,
            "librdkafka",
            metadata: ["facility": "\(facility)", "text": "\(text)"]
        )
    }
}

/// Limits the report that the broker refuses this process to once a minute, because each handle
/// retries every second.
final class RefusalNotice: Sendable {
    /// The instance that the whole process shares.
    static let shared = RefusalNotice()
    private let toldAt = Mutex<ContinuousClock.Instant?>(nil)

    /// Whether a message of librdkafka means that login or TLS failed, and not that the broker
    /// became unreachable meanwhile.
    static func isRefusal(_ text: String) -> Bool {
        (text.contains("SASL") || text.contains("SSL handshake failed"))
            && !text.contains("Disconnected") && !text.contains("timed out")
    }

    /// Whether to report the refusal now; safe to call from any thread of librdkafka.
    func isDue(at now: ContinuousClock.Instant = .now) -> Bool {
        toldAt.withLock { last in
            if let last, now - last < .seconds(60) { return false }
            last = now
            return true
        }
    }
}

import CLibrdkafka
import Logging
import Synchronization

/// Builds the configuration of a handle, and owns what its callbacks reach.
enum RDKafkaConfiguration {
    /// Makes a configuration that logs to a logger.
    ///
    /// The logger's box is retained once for the handle's life; librdkafka's threads call back with
    /// it until `rd_kafka_destroy` returns, and the handle releases it after that.
    ///
    /// - Returns: The configuration, owned by the caller until `rd_kafka_new` takes it.
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
        // A topic that is made later is found within a second.
        properties["topic.metadata.refresh.interval.ms"] = "1000"
        properties["reconnect.backoff.max.ms"] = "1000"
        properties.merge(settings.properties) { _, given in given }
        for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
            var reason = [CChar](repeating: 0, count: 512)
            let result = rd_kafka_conf_set(configuration, name, value, &reason, reason.count)
            // Properties of the other kind of handle are warnings of librdkafka, not errors.
            guard result == RD_KAFKA_CONF_OK else {
                rd_kafka_conf_destroy(configuration)
                // librdkafka's own words repeat the value, which may be a secret.
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

    /// Makes a handle from a configuration, which it takes over.
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

/// What librdkafka's callbacks reach: the logger, and, for a consumer, the rebalances of the poll
/// that is under way.
///
/// `@unchecked`: `logger` and `refusals` never change; `assigned` and `revoked` are touched only by
/// the rebalance callback and by the consumer, both on the consumer's one thread, and after its end
/// by the last callback alone.
final class CallbackBox: @unchecked Sendable {
    private let logger: Logger
    private let refusals: RefusalNotice
    var assigned: [KafkaTopicPartition] = []
    var revoked: [KafkaTopicPartition] = []

    init(logger: Logger, refusals: RefusalNotice = .shared) {
        self.logger = logger
        self.refusals = refusals
    }

    func log(level: Int32, facility: UnsafePointer<CChar>?, text: UnsafePointer<CChar>) {
        // syslog's levels. A broker that is away is told by whoever waits for it, so the many lines
        // of librdkafka about each try are for debugging; so is that a property given to all handles
        // means nothing to one kind. That a broker refuses the login or the certificate nobody else
        // can tell.
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

/// That the broker refuses a process, told once a minute: it is tried every second, by each handle.
final class RefusalNotice: Sendable {
    /// The process's.
    static let shared = RefusalNotice()
    private let toldAt = Mutex<ContinuousClock.Instant?>(nil)

    /// Whether librdkafka says that login or TLS failed, and not that the broker went away meanwhile.
    static func isRefusal(_ text: String) -> Bool {
        (text.contains("SASL") || text.contains("SSL handshake failed"))
            && !text.contains("Disconnected") && !text.contains("timed out")
    }

    /// Whether it is told now; any thread of librdkafka may ask.
    func isDue(at now: ContinuousClock.Instant = .now) -> Bool {
        toldAt.withLock { last in
            if let last, now - last < .seconds(60) { return false }
            last = now
            return true
        }
    }
}

import Foundation

/// The environment of each service of a store.
struct StoreSettings {
    let options: StoreOptions
    let keys: StoreKeys
    let bootstrapServers: String
    /// The replication factor of topics.
    let replicationFactor: Int
    /// The directory in which `fulfillment` stores hosted contents.
    let contentDirectory: String
    /// The settings with which `payments` charges at Stripe; empty for the sandbox's processor.
    ///
    /// `catalog` gets the name of the processor from them.
    var stripe: [String: String] = [:]
    /// The port of the first instance of each service.
    let firstPorts: [StoreService: Int]

    /// The broker settings for clients.
    ///
    /// A dead member is detected after the session timeout. The development broker answers the first
    /// member of a group after half of it, rounded up to a second. A shorter timeout would let a test
    /// begin sooner, but on a busy machine members would be taken for dead. A member that joined while
    /// another one died was observed to wait for an answer that never came. It asks again after a poll
    /// interval.
    ///
    /// A member that polls too late leaves its group. If it is the leader and leaves while the group
    /// forms, the development broker remembers it as the leader for ever, and the group never forms
    /// again. There the interval is therefore longer than any fault that blocks a consumer.
    private var brokerProperties: String {
        var properties = TestBroker.properties
        if options.isImpatient {
            properties["session.timeout.ms"] = "3000"
            // Fetches that find nothing take a seventh of a core in the development broker at the usual
            // interval, which is much for several stores at a time.
            if properties["fetch.wait.max.ms"] != nil { properties["fetch.wait.max.ms"] = "50" }
            properties["max.poll.interval.ms"] =
                BrokerProgram.chosen.mayHaveSeveralNodes ? "8000" : "30000"
        } else {
            // A third of the session's timeout. By heartbeats members learn that their group forms again,
            // which tests cannot wait for.
            properties["heartbeat.interval.ms"] = "2000"
        }
        if options.waitsByDefault {
            let waits = [
                "fetch.wait.max.ms", "heartbeat.interval.ms", "session.timeout.ms",
                "max.poll.interval.ms",
            ]
            for wait in waits { properties[wait] = nil }
        }
        return properties.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            .joined(separator: ",")
    }

    private func url(of service: StoreService) -> String {
        "http://127.0.0.1:\(firstPorts[service] ?? 0)"
    }

    func environment(
        of service: StoreService,
        port: Int,
        database: String,
        ownerDatabase: String
    ) -> [String: String] {
        var environment = [
            "HTTP_PORT": "\(port)",
            "DATABASE_URL": database,
            "MIGRATION_DATABASE_URL": ownerDatabase,
            "KAFKA_BOOTSTRAP_SERVERS": bootstrapServers,
            "KAFKA_PROPERTIES": brokerProperties,
            "KAFKA_TOPIC_PARTITIONS": "\(options.partitions)",
            "KAFKA_TOPIC_REPLICATION": "\(replicationFactor)",
            "APP_KEYS_DIRECTORY": keys.apps,
            "ADMIN_KEYS_DIRECTORY": keys.administrators,
            "LOG_LEVEL": options.logLevel,
        ]
        for name in ["PATH", "HOME", "TZ", "LD_LIBRARY_PATH"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        switch service {
        case .receipts:
            environment["STORE_ENVIRONMENT"] = "Sandbox"
            environment["SIGNING_KEY_FILE"] = keys.signingKey
            environment["SIGNING_CHAIN_FILE"] = keys.signingChain
            environment["OCSP_DIRECTORY"] = keys.statuses
            environment["SERVER_KEYS_DIRECTORY"] = keys.servers
            environment["FULFILLMENT_URL"] = url(of: .fulfillment)
            environment["PAYMENTS_URL"] = url(of: .payments)
        case .fulfillment:
            environment["WEBHOOK_SECRET_FILE"] = keys.webhookSecret
            environment["CONTENT_DIRECTORY"] = contentDirectory
            environment["SERVER_KEYS_DIRECTORY"] = keys.servers
        case .payments:
            environment["STORE_ENVIRONMENT"] = "Sandbox"
            environment["RECEIPTS_URL"] = url(of: .receipts)
            environment["SERVER_KEYS_DIRECTORY"] = keys.servers
        case .catalog:
            break
        }
        if options.isImpatient {
            environment.merge(Self.impatience[service] ?? [:]) { $1 }
        }
        switch service {
        case .payments: environment.merge(stripe) { $1 }
        case .catalog: environment["PROCESSOR"] = stripe["PROCESSOR"]
        case .receipts, .fulfillment: break
        }
        return environment.merging(options.settings[service] ?? [:]) { $1 }
    }

    /// Timings with which recovery takes only moments.
    private static let impatience: [StoreService: [String: String]] = [
        .payments: [
            "PROCESSOR_LEASE_MS": "1000", "PROCESSOR_PAUSE_MS": "50",
            "PROCESSOR_PAUSE_MAX_MS": "1000", "SANDBOX_PROCESSOR_SLOW_MS": "500",
            "PROCESSOR_POLL_MS": "200", "ACTION_EXPIRY_MS": "8000",
        ],
        .receipts: [
            "NOTIFICATION_POLL_MS": "200", "NOTIFICATION_TIMEOUT_MS": "8000",
            "NOTIFICATION_LEASE_MS": "9000",
        ],
        .fulfillment: [
            "WEBHOOK_RETRY_BASE_MS": "100", "WEBHOOK_RETRY_CEILING_MS": "1000",
            "WEBHOOK_POLL_MS": "200", "WEBHOOK_TIMEOUT_MS": "1500", "WEBHOOK_LEASE_MS": "2000",
            "STREAM_HEARTBEAT_MS": "1000",
        ],
    ]
}

import Foundation

/// The environment of each service of a store.
struct StoreSettings {
    let options: StoreOptions
    let keys: StoreKeys
    let bootstrapServers: String

    /// What the broker for development needs to be quick; a real Kafka needs none of it.
    static let brokerProperties = [
        "fetch.wait.max.ms=10", "session.timeout.ms=6000", "heartbeat.interval.ms=500",
        "partition.assignment.strategy=range",
    ]

    func environment(
        of service: StoreService, port: Int, database: String, ownerDatabase: String
    ) -> [String: String] {
        var environment = [
            "HTTP_PORT": "\(port)",
            "DATABASE_URL": database,
            "MIGRATION_DATABASE_URL": ownerDatabase,
            "KAFKA_BOOTSTRAP_SERVERS": bootstrapServers,
            "KAFKA_PROPERTIES": Self.brokerProperties.joined(separator: ","),
            "APP_KEYS_DIRECTORY": keys.apps,
            "ADMIN_KEYS_DIRECTORY": keys.administrators,
            "LOG_LEVEL": options.logLevel,
        ]
        for name in ["PATH", "HOME", "TZ", "LD_LIBRARY_PATH"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        switch service {
        case .receipts:
            environment["SIGNING_KEY_FILE"] = keys.signingKey
            environment["SIGNING_CHAIN_FILE"] = keys.signingChain
        case .fulfillment:
            environment["WEBHOOK_SECRET_FILE"] = keys.webhookSecret
        case .catalog, .payments:
            break
        }
        if options.isImpatient {
            environment.merge(Self.impatience[service] ?? [:]) { $1 }
        }
        return environment.merging(options.settings[service] ?? [:]) { $1 }
    }

    /// Times that make recovery a matter of moments.
    private static let impatience: [StoreService: [String: String]] = [:]
}

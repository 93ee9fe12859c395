public import EventTypes
public import Logging
public import StoreTracing
import Tracing

/// The settings that every service has.
///
/// | key | default | meaning |
/// | --- | --- | --- |
/// | `HTTP_HOST`, `HTTP_PORT` | `127.0.0.1`, the service's own | where HTTP is served |
/// | `HTTP_CONNECTIONS_MAX` | 10000 | further clients wait in the kernel's queue; fewer are served where few open files are allowed |
/// | `HTTP_IDLE_TIMEOUT_MS` | 60000 | the time that an idle connection stays open |
/// | `DATABASE_URL`, `DATABASE_POOL_SIZE` | required, 4 | the service's own database |
/// | `DATABASE_WAIT_MAX_MS` | 10000 | a request that waits longer is answered 503 |
/// | `DATABASE_PROBE_MS` | 5000 | how often the database is asked whether it can serve |
/// | `KAFKA_BOOTSTRAP_SERVERS`, `KAFKA_PROPERTIES` | required, none | the broker |
/// | `KAFKA_TOPIC_PARTITIONS`, `KAFKA_TOPIC_REPLICATION` | 8, 1 | for topics the service makes |
/// | `APP_KEYS_DIRECTORY`, `ADMIN_KEYS_DIRECTORY` | required | the keys whose tokens are accepted |
/// | `SPANS_FILE` | none | where spans of traces are appended |
public struct CommonSettings: Sendable {
    /// The address, the limits and the timeouts of the HTTP server.
    public let http: HTTPSettings
    /// The service's own database, as a `postgresql://` URL.
    public let databaseURL: String
    /// The number of connections to the database.
    public let databasePoolSize: Int
    /// The longest time one request may wait for the database before it is answered 503.
    public let databaseWaitMax: Duration
    /// The time between two probes of the database, whose results decide readiness.
    public let databaseProbeInterval: Duration
    /// The broker's addresses: `host:port,host:port`.
    public let kafkaBootstrapServers: String
    /// Further properties of librdkafka.
    public let kafkaProperties: [String: String]
    /// The number of partitions of a topic that the service creates.
    public let topicPartitions: Int
    /// The number of copies of a topic that the service creates.
    public let topicReplication: Int
    /// The directory of the apps' public keys.
    public let appKeysDirectory: String
    /// The directory of the administrators' public keys.
    public let adminKeysDirectory: String
    /// The file to which spans of traces are appended; empty for none.
    public let spansFile: String

    /// Reads the settings.
    ///
    /// - Parameters:
    ///   - reader: The source of the settings, which also collects problems.
    ///   - service: The service.
    ///   - defaultPort: The service's own port.
    public init(_ reader: inout SettingsReader, service: ServiceName, defaultPort: Int) {
        http = HTTPSettings(&reader, defaultPort: defaultPort)
        databaseURL = reader.secret(
            "DATABASE_URL",
            "The database of \(service): postgresql://user:password@host:port/database."
        )
        databasePoolSize = reader.integer(
            "DATABASE_POOL_SIZE",
            default: 4,
            in: 1...64,
            "Connections to the database."
        )
        databaseWaitMax = reader.milliseconds(
            "DATABASE_WAIT_MAX_MS",
            default: .seconds(10),
            in: .milliseconds(100)...(.seconds(600)),
            "How long one request may wait for the database before it is answered 503."
        )
        databaseProbeInterval = reader.milliseconds(
            "DATABASE_PROBE_MS",
            default: .seconds(5),
            in: .milliseconds(100)...(.seconds(60)),
            "How often the database is asked whether it can serve, for /health/ready."
        )
        kafkaBootstrapServers = reader.string(
            "KAFKA_BOOTSTRAP_SERVERS",
            "The broker's addresses: host:port,host:port."
        )
        // The properties may include a SASL password, which must not appear in a log.
        kafkaProperties = reader.secretList(
            "KAFKA_PROPERTIES",
            "Further librdkafka properties (TLS, SASL, timeouts): name=value,name=value."
        )
        topicPartitions = reader.integer(
            "KAFKA_TOPIC_PARTITIONS",
            default: 8,
            in: 1...1000,
            "Partitions of a topic that the service has to make."
        )
        topicReplication = reader.integer(
            "KAFKA_TOPIC_REPLICATION",
            default: 1,
            in: 1...9,
            "Copies of a topic that the service has to make; 3 in production."
        )
        appKeysDirectory = reader.string(
            "APP_KEYS_DIRECTORY",
            "Public keys of the apps: <bundle id>/<key id>.pem. They sign account tokens."
        )
        adminKeysDirectory = reader.string(
            "ADMIN_KEYS_DIRECTORY",
            "Public keys of the administrators: <name>.pem, and <name>.json with their scopes."
        )
        spansFile = reader.string(
            "SPANS_FILE",
            default: "",
            "Where spans of traces are appended as OTLP/JSON, one a line; - for the log."
        )
    }

    /// The recorder of a service's spans; `SpanRecorder.off` if spans are not recorded.
    ///
    /// If a tracer was bootstrapped with `InstrumentationSystem` before the service was composed,
    /// it receives the spans. Otherwise, if a file is configured, the store's own tracer writes
    /// them to it and is bootstrapped, so that a handler's own `withSpan` appears in the same file.
    public func spans(of service: ServiceName, _ logger: Logger) -> SpanRecorder {
        let present = InstrumentationSystem.tracer
        if !(present is NoOpTracer), !(present is StoreTracer) { return SpanRecorder(present) }
        guard !spansFile.isEmpty else { return .off }
        let output = SpanOutput(path: spansFile, service: service.rawValue, logger: logger)
        let tracer = StoreTracer { output.write($0) }
        if InstrumentationSystem.instrument is NoOpInstrument {
            InstrumentationSystem.bootstrap(tracer)
        }
        return SpanRecorder(tracer)
    }
}

/// The address, the limits and the timeouts of a service's HTTP server.
public struct HTTPSettings: Sendable {
    /// The address to listen on.
    public var host: String
    /// The port to listen on; 0 takes a free one.
    public var port: Int
    /// The number of connections that are served at once; further ones wait in the kernel's queue.
    public var connectionsMax: Int
    /// The time after which a connection without a request in progress is closed.
    public var idleTimeout: Duration

    /// Makes settings.
    public init(
        host: String = "127.0.0.1",
        port: Int,
        connectionsMax: Int = 10_000,
        idleTimeout: Duration = .seconds(60)
    ) {
        self.host = host
        self.port = port
        self.connectionsMax = connectionsMax
        self.idleTimeout = idleTimeout
    }

    /// Reads the settings.
    public init(_ reader: inout SettingsReader, defaultPort: Int) {
        host = reader.string("HTTP_HOST", default: "127.0.0.1", "The address to listen on.")
        port = reader.integer(
            "HTTP_PORT",
            default: defaultPort,
            in: 0...65535,
            "The port to listen on; 0 takes a free one."
        )
        connectionsMax = reader.integer(
            "HTTP_CONNECTIONS_MAX",
            default: 10_000,
            in: 1...100_000,
            "Connections served at once; fewer if the limit of open files is low. The others wait."
        )
        idleTimeout = reader.milliseconds(
            "HTTP_IDLE_TIMEOUT_MS",
            default: .seconds(60),
            in: .milliseconds(100)...(.seconds(3600)),
            "How long a connection may stay idle before it is closed."
        )
    }
}

/// The settings of `<service> migrate`.
public struct MigrationSettings: Sendable {
    /// The service's database as its owner, as a `postgresql://` URL.
    public let databaseURL: String

    /// Reads the settings.
    public init(_ reader: inout SettingsReader) {
        databaseURL = reader.secret(
            "MIGRATION_DATABASE_URL",
            "The service's database as its owner, who may change tables; used by migrate only."
        )
    }
}

/// The settings of `<service> rebuild`.
public struct RebuildSettings: Sendable {
    /// The service's live database, as a role that may read all of it.
    public let databaseURL: String
    /// An empty database, as its owner; the rebuild fills it.
    public let shadowDatabaseURL: String
    /// The databases of other services, as a role that may read their logs.
    public let logURLs: [ServiceName: String]
    /// The folder of the archived months of the logs, if there are any.
    public let archivesDirectory: String?

    /// Reads the settings.
    ///
    /// - Parameters:
    ///   - reader: The source of the settings.
    ///   - services: The services whose logs the books depend on, beside the service's own.
    public init(_ reader: inout SettingsReader, logsOf services: [ServiceName]) {
        databaseURL = reader.secret(
            "REBUILD_DATABASE_URL",
            "The service's live database, as a role that may read it; used by rebuild only."
        )
        shadowDatabaseURL = reader.secret(
            "REBUILD_SHADOW_DATABASE_URL",
            "An empty database, as its owner; used by rebuild only, which fills it."
        )
        var urls: [ServiceName: String] = [:]
        for service in services {
            urls[service] = reader.secret(
                "REBUILD_\(service.rawValue.uppercased())_DATABASE_URL",
                "The database of \(service), as a role that may read its log; used by rebuild only."
            )
        }
        logURLs = urls
        let directory = reader.string(
            "REBUILD_ARCHIVES_DIRECTORY",
            default: "",
            "The folder of the months that 'counterfoil log' has archived, if it has; used by rebuild only."
        )
        archivesDirectory = directory.isEmpty ? nil : directory
    }
}

/// The level and the format of a service's log.
struct LogSettings: Sendable {
    var level: Logger.Level
    var format: LogFormat

    init(_ reader: inout SettingsReader) {
        level = reader.choice("LOG_LEVEL", default: .info, "The lowest level that is logged.")
        format = reader.choice("LOG_FORMAT", default: .text, "The form of a log line.")
    }
}

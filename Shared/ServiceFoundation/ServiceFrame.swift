import Contracts
public import EventTypes
public import Kafka
public import Logging
public import Messaging
public import Postgres
public import ServiceKit
public import ServiceLifecycle
public import StoreTracing

/// The parts that every service has and makes the same way: its database, its clock, its relay, who
/// may ask it, what it says of its readiness, and its HTTP server.
///
/// A composition makes one, adds what its own service does, and asks it for the whole with
/// ``composition(_:readiness:environments:routes:)``. Nothing here does I/O before it runs.
public struct ServiceFrame: Sendable {
    /// The service.
    public let name: ServiceName
    /// Its database.
    public let client: PostgresClient
    /// Keeps it from being ready before its database has the schema that it needs.
    public let schema: PostgresSchemaGuard
    /// How to reach the broker.
    public let kafka: KafkaSettings
    /// Takes the spans of traces.
    public let spans: SpanRecorder
    /// The service's log.
    public let logger: Logger

    private let settings: CommonSettings
    private let authenticator: Authenticator
    private let relay: OutboxRelay
    private let probe: PostgresProbe
    private let didListen: @Sendable (Int) -> Void

    /// Makes the parts.
    ///
    /// - Parameters:
    ///   - definition: The service.
    ///   - settings: Its settings; they have been checked.
    ///   - machineClock: The clock of this machine, which is compared with the database's.
    ///   - logger: The service's log.
    ///   - didListen: Called with the port once it is listened on.
    /// - Throws: `KafkaError` if librdkafka is too old, `ServiceKitError` if keys cannot be read.
    public init(
        _ definition: ServiceDefinition,
        _ settings: CommonSettings,
        machineClock: @escaping @Sendable () -> PostgresTimestamp = PostgresClock.machine,
        logger: Logger,
        didListen: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws {
        try KafkaLibrary.requireSupportedVersion()
        let name = definition.name
        let client = PostgresClient(
            settings: PostgresSettings(
                url: settings.databaseURL,
                applicationName: name.rawValue,
                poolSize: settings.databasePoolSize,
                prefersIndexes: definition.prefersIndexes
            ),
            machineClock: machineClock,
            logger: logger
        )
        self.name = name
        self.settings = settings
        self.client = client
        self.logger = logger
        self.didListen = didListen
        authenticator = try Authenticator(
            appKeysDirectory: settings.appKeysDirectory,
            adminKeysDirectory: settings.adminKeysDirectory,
            now: { client.time },
            logger: logger
        )
        spans = settings.spans(of: name, logger)
        schema = PostgresSchemaGuard(
            client: client,
            migrations: definition.migrations,
            logger: logger
        )
        kafka = KafkaSettings(
            bootstrapServers: settings.kafkaBootstrapServers,
            clientID: name.rawValue,
            properties: settings.kafkaProperties
        )
        relay = OutboxRelay(
            service: name.rawValue,
            topics: definition.topics,
            client: client,
            kafka: kafka,
            topicSettings: TopicSettings(
                partitions: settings.topicPartitions,
                replicationFactor: settings.topicReplication
            ),
            spans: spans,
            logger: logger
        )
        probe = PostgresProbe(of: client, every: settings.databaseProbeInterval)
    }

    /// The service's clock: that of the database, which all instances share.
    public var now: @Sendable () -> Timestamp {
        { [client] in client.time }
    }

    /// Tells the relay that events were appended to the outbox.
    public var wakeRelay: @Sendable () -> Void {
        { [relay] in relay.wake() }
    }

    /// Brings the events of other services into this one's database.
    ///
    /// - Parameters:
    ///   - topics: What it reads.
    ///   - handler: What it does.
    /// - Returns: The consumer, whose group has the service's name.
    public func consumer(of topics: [Topic], handler: any EventHandler) -> EventConsumer {
        EventConsumer(
            name: name.rawValue,
            topics: topics,
            handler: handler,
            client: client,
            kafka: kafka,
            spans: spans,
            logger: logger
        )
    }

    /// Compares the service's environment with that of another service.
    ///
    /// - Parameters:
    ///   - environment: The service's own.
    ///   - peer: The other service.
    ///   - url: Where that is.
    /// - Returns: The watch, for ``composition(_:readiness:environments:routes:)``.
    public func environmentWatch(
        _ environment: StoreEnvironment,
        against peer: ServiceName,
        at url: String
    ) -> StoreEnvironmentWatch {
        StoreEnvironmentWatch(
            service: name,
            environment: environment,
            peer: peer,
            at: url,
            logger: logger
        )
    }

    /// Puts the service together: the parts of all services, and between them its own.
    ///
    /// - Parameters:
    ///   - services: What the service does itself, in start order; it starts after the relay and
    ///     before HTTP.
    ///   - readiness: What it needs before it can work, beside what every service needs.
    ///   - environments: Compares its environment with another service's.
    ///   - routes: Adds the service's own routes.
    /// - Returns: The service, ready to run.
    public func composition(
        _ services: [any Service],
        readiness: [ReadinessCheck] = [],
        environments: StoreEnvironmentWatch? = nil,
        routes: (StoreRouter) -> Void
    ) -> Composition {
        let checks = checks + readiness + (environments.map { [$0.check] } ?? [])
        let router = storeRouter(
            authenticator: authenticator,
            readiness: checks,
            databaseWaitMax: settings.databaseWaitMax,
            spans: spans,
            logger: logger
        )
        ContractRoutes(of: name).add(to: router)
        environments?.addRoute(to: router)
        routes(router)
        let server = StoreHTTPServer(
            router: router,
            settings: settings.http,
            logger: logger,
            didListen: didListen
        )
        let watches: [any Service] = environments.map { [$0] } ?? []
        return Composition(
            services: [client, probe, schema, relay] + services + watches + [server],
            readiness: checks
        )
    }

    /// What every service needs before it can work.
    private var checks: [ReadinessCheck] {
        [
            ReadinessCheck("postgres", failure: { [probe] in probe.problem }),
            ReadinessCheck("migrations") { [schema] in schema.isCurrent },
            ReadinessCheck("topics") { [relay] in relay.isReady },
            ReadinessCheck("clock", failure: { [client] in client.clock.problem }),
        ]
    }
}

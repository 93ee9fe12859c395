import Contracts
public import EventTypes
public import Kafka
public import Logging
public import Messaging
public import Postgres
public import ServiceKit
public import ServiceLifecycle
public import StoreTracing

/// The parts that every service has: database client, clock, relay, authentication, readiness
/// checks and HTTP server.
///
/// A service makes a frame, makes its own parts, and joins both with
/// ``composition(_:readiness:environments:routes:)``. Apart from reading keys, nothing here does I/O
/// before the composition runs.
public struct ServiceFrame: Sendable {
    /// The service.
    public let name: ServiceName
    /// The client of the service's database.
    public let client: PostgresClient
    /// The store's clock in this process.
    public let clock: ProcessClock
    /// Keeps the service from being ready until its database has the schema that it needs.
    public let schema: PostgresSchemaGuard
    /// The settings of the connection to the broker.
    public let kafka: KafkaSettings
    /// Records the spans of traces.
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
    ///   - settings: The settings of the service, already checked.
    ///   - machineClock: The clock of this machine, which is compared with that of the database.
    ///   - logger: The service's log.
    ///   - didListen: Called with the port once the server listens.
    /// - Throws: `KafkaError` if librdkafka is too old; `ServiceKitError` if keys cannot be read.
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
        let clock = ProcessClock(client: client)
        self.clock = clock
        self.logger = logger
        self.didListen = didListen
        authenticator = try Authenticator(
            appKeysDirectory: settings.appKeysDirectory,
            adminKeysDirectory: settings.adminKeysDirectory,
            now: { client.machineTime },
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
            clock: clock,
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

    /// Returns the time of the store's clock, which all instances share.
    public var storeNow: @Sendable () -> StoreTime {
        { [clock] in clock.now }
    }

    /// Returns the time of the machines' clock, which all instances share, too.
    public var machineNow: @Sendable () -> MachineTime {
        { [client] in client.machineTime }
    }

    /// Tells the relay that events were appended to the outbox.
    public var wakeRelay: @Sendable () -> Void {
        { [relay] in relay.wake() }
    }

    /// Makes a consumer that applies the events of other services to this one's database.
    ///
    /// - Parameters:
    ///   - topics: The topics that it reads.
    ///   - handler: Applies the events.
    ///   - delay: The age that events have when they are applied.
    ///   - fetchWait: The least time for which a fetch waits for an event.
    /// - Returns: The consumer; its group has the service's name.
    public func consumer(
        of topics: [Topic],
        handler: any EventHandler,
        delay: Duration = .zero,
        fetchWait: Duration = .zero
    ) -> EventConsumer {
        EventConsumer(
            name: name,
            topics: topics,
            handler: handler,
            client: client,
            clock: clock,
            kafka: kafka,
            delay: delay,
            fetchWait: fetchWait,
            spans: spans,
            logger: logger
        )
    }

    /// Makes a watch that compares the service's environment with that of another service.
    ///
    /// - Parameters:
    ///   - environment: The service's own environment.
    ///   - peer: The other service.
    ///   - url: The URL of the other service.
    ///   - signsUntil: The last time at which this service can sign; `nil` if it does not sign.
    /// - Returns: The watch, for ``composition(_:readiness:environments:routes:)``.
    public func environmentWatch(
        _ environment: StoreEnvironment,
        against peer: ServiceName,
        at url: String,
        signsUntil: StoreTime? = nil
    ) -> StoreEnvironmentWatch {
        StoreEnvironmentWatch(
            service: name,
            environment: environment,
            peer: peer,
            at: url,
            signsUntil: signsUntil,
            logger: logger
        )
    }

    /// Joins the parts of the frame and the service's own parts.
    ///
    /// - Parameters:
    ///   - services: The service's own parts in start order; they start after the relay and before
    ///     the HTTP server.
    ///   - readiness: The service's own readiness checks, besides those of every service.
    ///   - environments: Compares the service's environment with that of another service.
    ///   - routes: Adds the service's own routes.
    /// - Returns: The service, ready to run.
    public func composition(
        _ services: [any Service],
        readiness: [ReadinessCheck] = [],
        environments: StoreEnvironmentWatch? = nil,
        routes: (StoreRouter) -> Void
    ) -> Composition {
        var checks = checks + readiness
        if let environments {
            checks.append(environments.check)
            if environments.environment == .production { checks.append(isMachinesClock) }
        }
        let router = storeRouter(
            authenticator: authenticator,
            readiness: checks,
            databaseWaitMax: settings.databaseWaitMax,
            spans: spans,
            logger: logger
        )
        ContractRoutes(of: name).add(to: router)
        router.addClockRoute(of: name) { [clock] in (clock.step, clock.now) }
        environments?.addRoute(to: router)
        routes(router)
        let server = StoreHTTPServer(
            router: router,
            settings: settings.http,
            logger: logger,
            didListen: didListen
        )
        let follower = ClockFollower(clock: clock, kafka: kafka, logger: logger)
        let watches: [any Service] = environments.map { [$0] } ?? []
        return Composition(
            services: [client, probe, schema, follower, relay] + services + watches + [server],
            readiness: checks
        )
    }

    /// The store's clock is the machines', as it is in production.
    private var isMachinesClock: ReadinessCheck {
        ReadinessCheck("store clock in production") { [clock] in clock.problemInProduction }
    }

    /// The readiness checks of every service.
    private var checks: [ReadinessCheck] {
        [
            ReadinessCheck("postgres", failure: { [probe] in probe.problem }),
            ReadinessCheck("migrations") { [schema] in schema.isCurrent },
            ReadinessCheck("topics") { [relay] in relay.isReady },
            ReadinessCheck("store clock") { [clock] in clock.isCurrent },
            ReadinessCheck("clock", failure: { [client] in client.clock.problem }),
        ]
    }
}

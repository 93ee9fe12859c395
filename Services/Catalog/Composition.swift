import Contracts
import EventTypes
import Kafka
import Logging
import Messaging
import Postgres
import Rebuild
import ServiceKit
import ServiceLifecycle

/// Makes the catalog: settings → PostgreSQL → the price list and what keeps it current → the relay
/// → HTTP.
///
/// No I/O happens here; the parts connect when they run.
@Sendable
func composeCatalog(_ reader: inout SettingsReader, _ logger: Logger) throws -> Composition {
    let settings = CatalogSettings(&reader)
    let authenticator = try Authenticator(
        appKeysDirectory: settings.common.appKeysDirectory,
        adminKeysDirectory: settings.common.adminKeysDirectory,
        now: Timestamp.wallClock,
        logger: logger
    )
    try reader.check()
    return try CatalogService(
        settings: settings,
        authenticator: authenticator,
        logger: logger
    ).composition
}

/// Brings the catalog's database up to date.
@Sendable
func migrateCatalog(
    _ reader: inout SettingsReader,
    _ logger: Logger
) throws -> @Sendable () async throws -> Void {
    let settings = MigrationSettings(&reader)
    try reader.check()
    return {
        let migrator = PostgresMigrator(
            url: settings.databaseURL,
            migrations: CatalogMigrations.all,
            logger: logger
        )
        let count = try await migrator.migrate()
        logger.info("migrated", metadata: ["migrations": "\(count)"])
    }
}

/// The catalog's parts.
struct CatalogService {
    let router: StoreRouter
    let composition: Composition

    init(
        settings: CatalogSettings,
        authenticator: Authenticator,
        now: (@Sendable () -> Timestamp)? = nil,
        machineClock: @escaping @Sendable () -> PostgresTimestamp = PostgresClock.machine,
        logger: Logger,
        didListen: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws {
        try KafkaLibrary.requireSupportedVersion()
        let common = settings.common
        let spans = common.spans(of: "catalog", logger)
        let client = PostgresClient(
            settings: PostgresSettings(
                url: common.databaseURL,
                applicationName: "catalog",
                poolSize: common.databasePoolSize
            ),
            machineClock: machineClock,
            logger: logger
        )
        // All instances go by the clock of the database that they share.
        let now: @Sendable () -> Timestamp = now ?? { client.time }
        let priceList = CurrentPriceList()
        let schema = PostgresSchemaGuard(
            client: client,
            migrations: CatalogMigrations.all,
            logger: logger
        )
        let follower = PriceListFollower(
            client: client,
            schema: schema,
            priceList: priceList,
            logger: logger
        )
        let relay = OutboxRelay(
            service: "catalog",
            topics: [Topics.catalogProducts],
            client: client,
            kafka: KafkaSettings(
                bootstrapServers: common.kafkaBootstrapServers,
                clientID: "catalog",
                properties: common.kafkaProperties
            ),
            topicSettings: TopicSettings(
                partitions: common.topicPartitions,
                replicationFactor: common.topicReplication
            ),
            spans: spans,
            logger: logger
        )
        let probe = PostgresProbe(of: client, every: common.databaseProbeInterval)
        let readiness = [
            ReadinessCheck("postgres", failure: { probe.problem }),
            ReadinessCheck("migrations") { schema.isCurrent },
            ReadinessCheck("products") { priceList.isLoaded },
            ReadinessCheck("topics") { relay.isReady },
            ReadinessCheck("clock", failure: { client.clock.problem }),
        ]
        let router = storeRouter(
            authenticator: authenticator,
            readiness: readiness,
            databaseWaitMax: common.databaseWaitMax,
            spans: spans,
            logger: logger
        )
        ContractRoutes(of: .catalog).add(to: router)
        CatalogRoutes(priceList: priceList).add(to: router)
        AdminRoutes(
            handler: CatalogHandler(
                client: client,
                priceList: priceList,
                now: now,
                didAppend: { relay.wake() }
            ),
            importBytesMax: settings.importBytesMax
        ).add(to: router)
        let server = StoreHTTPServer(
            router: router,
            settings: common.http,
            logger: logger,
            didListen: didListen
        )
        self.router = router
        composition = Composition(
            services: [client, probe, schema, relay, follower, server],
            readiness: readiness
        )
    }
}

/// Makes the catalog again from its event log, and compares it.
@Sendable
func rebuildCatalog(
    _ reader: inout SettingsReader,
    _ logger: Logger
) throws -> @Sendable () async throws -> Void {
    let settings = RebuildSettings(&reader, logsOf: [])
    try reader.check()
    let run = RebuildRun(
        CatalogRebuildHandler(),
        migrations: CatalogMigrations.all,
        databases: RebuildRun.Databases(
            live: settings.databaseURL,
            shadow: settings.shadowDatabaseURL,
            logs: settings.logURLs,
            archives: settings.archivesDirectory
        ),
        logger: logger,
        tell: RebuildLine.write
    )
    return { try await run.run() }
}

/// The catalog's migrations, after those of Messaging.
enum CatalogMigrations {
    static let all =
        MessagingMigrations.all(role: "counterfoil_catalog") + [
            PostgresMigration(name: "m0001_products", bytes: PackageResources.m0001_products_sql)
        ]
}

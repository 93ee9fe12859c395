import EventTypes
import Kafka
import Logging
import Messaging
import Postgres
import ServiceKit

/// Everything that `receipts` is made of, from the settings to the services in start order.
func composeReceipts(_ reader: inout SettingsReader, _ logger: Logger) throws -> Composition {
    try composeReceipts(&reader, logger, now: Timestamp.wallClock)
}

/// As above, with a clock.
func composeReceipts(
    _ reader: inout SettingsReader,
    _ logger: Logger,
    now: @escaping @Sendable () -> Timestamp
) throws -> Composition {
    try KafkaLibrary.requireSupportedVersion()
    let settings = try ReceiptsSettings(&reader, now: now())
    let common = settings.common
    let chain = settings.chain
    warnIfExpiring(chain, at: now(), logger)

    let client = PostgresClient(
        settings: PostgresSettings(
            url: common.databaseURL,
            applicationName: "receipts",
            poolSize: common.databasePoolSize,
            prefersIndexes: true
        ),
        logger: logger
    )
    let kafka = KafkaSettings(
        bootstrapServers: common.kafkaBootstrapServers,
        clientID: "receipts",
        properties: common.kafkaProperties
    )
    let relay = OutboxRelay(
        service: "receipts",
        topics: [Topics.receiptsIssued],
        client: client,
        kafka: kafka,
        topicSettings: TopicSettings(
            partitions: common.topicPartitions,
            replicationFactor: common.topicReplication
        ),
        logger: logger
    )
    let store = ReceiptStore()
    let consumer = EventConsumer(
        name: "receipts",
        topics: [Topics.paymentsTransactions, Topics.fulfillmentTransactions],
        handler: ReceiptHandler(
            store: store,
            signer: ReceiptSigner(chain: chain, environment: settings.environment),
            now: now,
            wakeRelay: { relay.wake() }
        ),
        client: client,
        kafka: kafka,
        logger: logger
    )
    let schema = PostgresSchemaGuard(
        client: client,
        migrations: receiptsMigrations,
        logger: logger
    )
    let readiness = [
        ReadinessCheck("postgres") { client.isConnected },
        ReadinessCheck("migrations") { schema.isCurrent },
        ReadinessCheck("topics") { relay.isReady },
        ReadinessCheck("signing chain") { chain.isValid(at: now()) },
    ]
    let router = storeRouter(
        authenticator: try Authenticator(
            appKeysDirectory: common.appKeysDirectory,
            adminKeysDirectory: common.adminKeysDirectory,
            now: now
        ),
        readiness: readiness,
        logger: logger
    )
    ReceiptRoutes(
        reader: ReceiptReader(store: store, client: client),
        rootCertificate: chain.rootCertificate
    ).add(to: router)
    let server = StoreHTTPServer(router: router, settings: common.http, logger: logger)

    return Composition(services: [client, schema, relay, consumer, server], readiness: readiness)
}

/// What `receipts migrate` does: the spine's tables, then its own.
func migrateReceipts(
    _ reader: inout SettingsReader,
    _ logger: Logger
) throws -> @Sendable () async throws -> Void {
    let settings = MigrationSettings(&reader)
    try reader.check()
    return {
        let applied = try await PostgresMigrator(
            url: settings.databaseURL,
            migrations: receiptsMigrations,
            logger: logger
        ).migrate()
        logger.info("The database is up to date", metadata: ["migrations.applied": "\(applied)"])
    }
}

/// The migrations of the database of `receipts`, in order.
let receiptsMigrations =
    MessagingMigrations.all(role: "counterfoil_receipts") + [
        PostgresMigration(name: "m0001_receipts", bytes: PackageResources.m0001_receipts_sql),
        PostgresMigration(name: "m0002_app_receipt", bytes: PackageResources.m0002_app_receipt_sql),
    ]

private func warnIfExpiring(_ chain: SigningChain, at now: Timestamp, _ logger: Logger) {
    let left = chain.validUntil.duration(since: now)
    if left < .seconds(30 * 86_400) {
        logger.warning(
            "The signing chain expires soon",
            metadata: [
                "chain.validUntil": "\(chain.validUntil)",
                "todo":
                    "issue a new leaf, replace SIGNING_KEY_FILE and SIGNING_CHAIN_FILE, restart",
            ]
        )
    }
}

import Callbacks
import Contracts
import EventTypes
import Kafka
import Logging
import Messaging
import Postgres
import Rebuild
import ServiceKit

/// Makes everything that `fulfillment` is, from settings to HTTP, without I/O.
func composeFulfillment(
    _ reader: inout SettingsReader,
    _ logger: Logger
) throws -> Composition {
    let settings = FulfillmentSettings(&reader)
    let signer = webhookSigner(settings, &reader)
    try reader.check()
    guard let signer else { return Composition(services: [], readiness: []) }
    let common = settings.common
    let spans = common.spans(of: "fulfillment", logger)

    let client = PostgresClient(
        settings: PostgresSettings(
            url: common.databaseURL,
            applicationName: "fulfillment",
            poolSize: common.databasePoolSize,
            prefersIndexes: true
        ),
        logger: logger
    )
    // All instances go by the clock of the database that they share.
    let now: @Sendable () -> Timestamp = { client.time }

    // What can be refused comes before what has to be closed: HTTP clients.
    let authenticator = try Authenticator(
        appKeysDirectory: common.appKeysDirectory,
        adminKeysDirectory: common.adminKeysDirectory,
        now: now
    )
    let servers = try ServerAPIAuthenticator(
        keysDirectory: settings.serverKeysDirectory,
        requestsPerSecond: settings.serverRequestsPerSecond,
        now: now,
        logger: logger
    )

    let kafka = KafkaSettings(
        bootstrapServers: common.kafkaBootstrapServers,
        clientID: "fulfillment",
        properties: common.kafkaProperties
    )
    let relay = OutboxRelay(
        service: "fulfillment",
        topics: [Topics.fulfillmentTransactions],
        client: client,
        kafka: kafka,
        topicSettings: TopicSettings(
            partitions: common.topicPartitions,
            replicationFactor: common.topicReplication
        ),
        spans: spans,
        logger: logger
    )

    // What is owed to merchants.
    let webhooks = WebhookHandler(
        client: client,
        now: now,
        lease: settings.webhookLease,
        wakeRelay: { relay.wake() }
    )
    let recorder = RequestBatcher<WebhookOutcome, Void>(
        name: "webhook_outcomes",
        logger: logger
    ) { outcomes in
        try await webhooks.record(outcomes)
        return outcomes.map { _ in }
    }
    let sender = CallbackSender(
        ledger: WebhookLedger(
            handler: webhooks,
            transport: CallbackTransport(timeout: settings.webhookTimeout),
            signer: signer,
            recorder: recorder,
            retries: settings.webhookRetries,
            spans: spans,
            logger: logger
        ),
        limits: settings.webhooks,
        logger: logger
    )

    // What the other services say of transactions.
    let consumer = EventConsumer(
        name: "fulfillment",
        topics: [Topics.paymentsTransactions, Topics.receiptsIssued],
        handler: TransactionHandler(
            now: now,
            wakeRelay: { relay.wake() },
            wakeWebhooks: { sender.wake() },
            webhookLease: settings.webhookLease
        ),
        client: client,
        kafka: kafka,
        spans: spans,
        logger: logger
    )

    // What clients are told, and what they ask.
    let hub = QueueHub(limits: settings.streams, spans: spans)
    let tail = EventTail(
        topics: [Topics.fulfillmentTransactions],
        kafka: kafka,
        logger: logger,
        receive: { hub.receive($0) }
    )
    let store = QueueReadStore(client: client)
    let heartbeat = QueueHeartbeat(
        hub: hub,
        store: store,
        interval: settings.heartbeat,
        logger: logger
    )
    let finishing = FinishHandler(
        client: client,
        now: now,
        spans: spans,
        wakeRelay: { relay.wake() }
    )
    let finishes = RequestBatcher<FinishRequest, FinishOutcome>(
        name: "finishes",
        batchSizeMax: settings.finishBatchMax,
        pendingMax: settings.finishPendingMax,
        waitMax: common.databaseWaitMax,
        logger: logger
    ) { try await finishing.finish($0) }

    // What is hosted for products.
    let contents = HostedContentHandler(
        client: client,
        storage: contentStorage(settings.contents, now, logger),
        now: now
    )
    let cleaning = HostedContentCleaning(
        handler: contents,
        interval: settings.contents.cleaningInterval,
        logger: logger
    )

    let schema = PostgresSchemaGuard(
        client: client,
        migrations: fulfillmentMigrations,
        logger: logger
    )
    let probe = PostgresProbe(of: client, every: common.databaseProbeInterval)
    let readiness = [
        ReadinessCheck("postgres", failure: { probe.problem }),
        ReadinessCheck("topics") { relay.isReady },
        ReadinessCheck("migrations") { schema.isCurrent },
        ReadinessCheck("clock", failure: { client.clock.problem }),
    ]
    let router = storeRouter(
        authenticator: authenticator,
        readiness: readiness,
        databaseWaitMax: common.databaseWaitMax,
        spans: spans,
        logger: logger
    )
    ContractRoutes(of: .fulfillment).add(to: router)
    FulfillmentRoutes(hub: hub, store: store, finishes: finishes, logger: logger).add(to: router)
    HistoryRoutes(store: store).add(to: router)
    let unfinished = UnfinishedStore(client: client)
    UnfinishedRoutes(store: unfinished, now: now).add(to: router)
    WebhookAdminRoutes(webhooks: webhooks, wake: { sender.wake() }).add(to: router)
    ServerFinishRoutes(
        authenticator: servers,
        store: store,
        finishes: finishes
    ).add(to: router)
    HostedContentRoutes(
        handler: contents,
        places: DownloadPlaces(limits: settings.contents.downloads),
        lengthMax: settings.contents.lengthMax,
        logger: logger
    ).add(to: router)

    return Composition(
        services: [
            client, probe, schema, relay, recorder, sender, consumer, tail, heartbeat, finishes,
            cleaning, UnfinishedWatch(store: unfinished, now: now, logger: logger),
            StoreHTTPServer(router: router, settings: common.http, logger: logger),
        ],
        readiness: readiness
    )
}

/// Brings the database of `fulfillment` up to date.
func migrateFulfillment(
    _ reader: inout SettingsReader,
    _ logger: Logger
) throws -> @Sendable () async throws -> Void {
    let settings = MigrationSettings(&reader)
    try reader.check()
    let migrator = PostgresMigrator(
        url: settings.databaseURL,
        migrations: fulfillmentMigrations,
        logger: logger
    )
    return {
        let count = try await migrator.migrate()
        logger.info("migrated", metadata: ["migrations": "\(count)"])
    }
}

/// Makes the tables of `fulfillment` again from its event log, and compares them.
@Sendable
func rebuildFulfillment(
    _ reader: inout SettingsReader,
    _ logger: Logger
) throws -> @Sendable () async throws -> Void {
    let settings = RebuildSettings(&reader, logsOf: [])
    try reader.check()
    let run = RebuildRun(
        FulfillmentRebuildHandler(),
        migrations: fulfillmentMigrations,
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

/// The tables of the spine and of fulfillment, in order.
let fulfillmentMigrations =
    MessagingMigrations.all(role: "counterfoil_fulfillment") + [
        PostgresMigration(
            name: "fulfillment_m0001_queues",
            bytes: PackageResources.m0001_fulfillment_sql
        ),
        PostgresMigration(
            name: "fulfillment_m0002_queue_accounts",
            bytes: PackageResources.m0002_queue_accounts_sql
        ),
        PostgresMigration(
            name: "fulfillment_m0003_hosted_content",
            bytes: PackageResources.m0003_hosted_content_sql
        ),
        PostgresMigration(
            name: "fulfillment_m0004_content_uploads",
            bytes: PackageResources.m0004_content_uploads_sql
        ),
        PostgresMigration(
            name: "fulfillment_m0005_traces",
            bytes: PackageResources.m0005_traces_sql
        ),
        PostgresMigration(
            name: "fulfillment_m0006_webhooks_again",
            bytes: PackageResources.m0006_webhooks_again_sql
        ),
    ]

/// The directory, or the store that is set.
private func contentStorage(
    _ settings: ContentSettings,
    _ now: @escaping @Sendable () -> Timestamp,
    _ logger: Logger
) -> any ContentStorage {
    guard let store = settings.store else {
        return DiskContentStorage(directory: settings.directory)
    }
    return S3ContentStorage(store, spool: settings.directory, now: now, logger: logger)
}

private func webhookSigner(
    _ settings: FulfillmentSettings,
    _ reader: inout SettingsReader
) -> WebhookSigner? {
    do throws(FulfillmentError) {
        return try WebhookSigner(secret: settings.webhookSecret)
    } catch {
        // A file that is missing was refused already, for a better reason.
        if reader.problems.allSatisfy({ $0.key != "WEBHOOK_SECRET_FILE" }) {
            reader.refuse(
                "WEBHOOK_SECRET_FILE",
                "names a file whose content is wrong: \(error.message)"
            )
        }
        return nil
    }
}

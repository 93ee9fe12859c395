import Callbacks
import Contracts
import EventTypes
import Kafka
import Logging
import Messaging
import Postgres
import Rebuild
import ServiceKit
import X509

/// Everything that `receipts` is made of, from the settings to the services in start order.
func composeReceipts(_ reader: inout SettingsReader, _ logger: Logger) throws -> Composition {
    try composeReceipts(&reader, logger, now: nil)
}

/// As above, with a clock; the database's if there is none.
func composeReceipts(
    _ reader: inout SettingsReader,
    _ logger: Logger,
    now: (@Sendable () -> Timestamp)?
) throws -> Composition {
    try KafkaLibrary.requireSupportedVersion()
    let settings = try ReceiptsSettings(&reader, now: now?() ?? .wallClock())
    let common = settings.common
    let spans = common.spans(of: "receipts", logger)
    let chain = settings.chain
    let client = PostgresClient(
        settings: PostgresSettings(
            url: common.databaseURL,
            applicationName: "receipts",
            poolSize: common.databasePoolSize,
            prefersIndexes: true
        ),
        logger: logger
    )
    // All instances go by the clock of the database that they share.
    let now: @Sendable () -> Timestamp = now ?? { client.time }
    warnIfExpiring(chain, at: now(), logger)
    // What can be refused comes before what has to be closed: HTTP clients.
    let statuses = try statusFiles(settings, &reader, at: now(), logger)
    let appReceiptSigner = try AppReceiptSigner(chain: chain)
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
        spans: spans,
        logger: logger
    )
    let store = ReceiptStore()
    let signer = ReceiptSigner(chain: chain, environment: settings.environment)

    // What merchants' servers are told.
    let apps = AppRegistry(directory: common.appKeysDirectory, now: now, logger: logger)
    let announcements = AnnouncementHandler(
        signer: signer,
        store: store,
        app: { apps.app($0) }
    )
    let sender = CallbackSender(
        ledger: OwedNotificationQueue(
            client: client,
            transport: CallbackTransport(
                timeout: settings.notifications.timeout,
                confirming: 200..<207
            ),
            signer: signer,
            lease: settings.notifications.lease,
            now: now,
            logger: logger
        ),
        limits: settings.notifications.limits,
        logger: logger
    )

    let keeper = NotificationLogKeeper(
        log: NotificationLogHandler(
            client: client,
            retention: settings.notifications.retention,
            now: now
        ),
        logger: logger
    )

    let environments = StoreEnvironmentWatch(
        service: "receipts",
        environment: settings.environment,
        peer: "payments",
        at: settings.paymentsURL,
        logger: logger
    )
    let consumer = EventConsumer(
        name: "receipts",
        topics: [Topics.paymentsTransactions, Topics.fulfillmentTransactions],
        handler: ReceiptHandler(
            store: store,
            signer: signer,
            announcements: announcements,
            now: now,
            wakeRelay: { relay.wake() },
            wakeNotifications: { sender.wake() },
            didMeet: { environments.noteForeignEvent(of: $0.environment) }
        ),
        client: client,
        kafka: kafka,
        spans: spans,
        logger: logger
    )
    let schema = PostgresSchemaGuard(
        client: client,
        migrations: receiptsMigrations,
        logger: logger
    )
    let probe = PostgresProbe(of: client, every: common.databaseProbeInterval)
    let readiness = [
        ReadinessCheck("postgres", failure: { probe.problem }),
        ReadinessCheck("migrations") { schema.isCurrent },
        ReadinessCheck("topics") { relay.isReady },
        ReadinessCheck("clock", failure: { client.clock.problem }),
        ReadinessCheck("signing chain") { chain.isValid(at: now()) },
        ReadinessCheck("signing certificate not revoked") {
            isBelieved(chain, by: statuses.responder(at: now()))
        },
        environments.check,
    ]
    let router = storeRouter(
        authenticator: authenticator,
        readiness: readiness,
        databaseWaitMax: common.databaseWaitMax,
        spans: spans,
        logger: logger
    )
    ContractRoutes(of: .receipts).add(to: router)
    environments.addRoute(to: router)
    ReceiptRoutes(
        reader: ReceiptReader(store: store, client: client),
        rootCertificate: chain.rootCertificate
    ).add(to: router)
    let notifications = NotificationHandler(
        client: client,
        announcements: announcements,
        testsPerMinute: settings.notifications.testsPerMinute,
        now: now,
        wake: { sender.wake() }
    )
    NotificationAdminRoutes(notifications: notifications).add(to: router)
    OCSPRoutes(directory: statuses, now: now).add(to: router)

    // What merchants' servers ask.
    let serverAPI = ServerAPIStore()
    ServerAPIRoutes(
        authenticator: servers,
        reader: ServerAPIReader(store: serverAPI, client: client, signer: signer, now: now),
        tokens: AppAccountTokenHandler(
            receipts: store,
            store: serverAPI,
            client: client,
            signer: signer,
            now: now
        ),
        finishes: FinishForwarder(
            baseURL: settings.fulfillmentURL,
            timeout: settings.fulfillmentTimeout
        ),
        apps: apps,
        now: now
    ).add(to: router)
    NotificationServerRoutes(
        authenticator: servers,
        notifications: notifications,
        environment: settings.environment,
        now: now
    ).add(to: router)
    ConsumptionRoutes(
        authenticator: servers,
        consumptions: ConsumptionHandler(client: client, now: now)
    ).add(to: router)
    let appReceipts = AppReceiptReader(
        client: client,
        signer: appReceiptSigner,
        environment: settings.environment,
        now: now
    )
    AppReceiptRoutes(reader: appReceipts).add(to: router)
    VerifyReceiptRoutes(
        handler: VerifyReceiptHandler(
            reader: appReceipts,
            roots: [chain.rootCertificate] + settings.formerRoots,
            secrets: settings.sharedSecrets,
            logger: logger
        )
    ).add(to: router)
    let server = StoreHTTPServer(router: router, settings: common.http, logger: logger)

    return Composition(
        services: [client, probe, schema, relay, sender, keeper, consumer, environments, server],
        readiness: readiness
    )
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

/// Makes the receipts again from the event log, and compares them.
@Sendable
func rebuildReceipts(
    _ reader: inout SettingsReader,
    _ logger: Logger
) throws -> @Sendable () async throws -> Void {
    let settings = RebuildSettings(&reader, logsOf: ["fulfillment"])
    try reader.check()
    let run = RebuildRun(
        ReceiptsRebuildHandler(consumer: "receipts"),
        migrations: receiptsMigrations,
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

/// The migrations of the database of `receipts`, in order.
let receiptsMigrations =
    MessagingMigrations.all(role: "counterfoil_receipts") + [
        PostgresMigration(name: "m0001_receipts", bytes: PackageResources.m0001_receipts_sql),
        PostgresMigration(name: "m0002_app_receipt", bytes: PackageResources.m0002_app_receipt_sql),
        PostgresMigration(name: "m0003_server_api", bytes: PackageResources.m0003_server_api_sql),
        PostgresMigration(
            name: "m0004_notifications",
            bytes: PackageResources.m0004_notifications_sql
        ),
        PostgresMigration(
            name: "m0005_notification_log",
            bytes: PackageResources.m0005_notification_log_sql
        ),
        PostgresMigration(
            name: "m0006_app_transaction_ids",
            bytes: PackageResources.m0006_app_transaction_ids_sql
        ),
    ]

/// The files that status is told from; what is wrong with them is a wrong setting.
private func statusFiles(
    _ settings: ReceiptsSettings,
    _ reader: inout SettingsReader,
    at now: Timestamp,
    _ logger: Logger
) throws -> OCSPDirectory {
    if !settings.chain.tellsItsStatus {
        logger.warning(
            "The signing chain does not say where its status is told",
            metadata: [
                "todo": "counterfoil keys rotate --ocsp-url …; online checks fail until then"
            ]
        )
    }
    do {
        return try OCSPDirectory(
            path: settings.ocspDirectory,
            chain: settings.chain,
            at: now,
            logger: logger
        )
    } catch let error as ReceiptsError {
        reader.refuse("OCSP_DIRECTORY", "cannot be used: \(error.detail)")
        try reader.check()
        throw error
    }
}

/// Whether neither the leaf nor the intermediate was revoked: what is signed with either then is
/// refused by everyone who asks.
private func isBelieved(_ chain: SigningChain, by responder: OCSPResponder) -> Bool {
    for (certificate, authority) in [(chain.certificates[0], 1), (chain.certificates[1], 0)] {
        let serial = Array(certificate.serialNumber.bytes)
        if case .revoked = responder.status(of: serial, issuedBy: authority) { return false }
    }
    return true
}

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

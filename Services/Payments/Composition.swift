import ClockAndIDs
import Contracts
import EventTypes
public import Kafka
import Ledger
import Logging
import Messaging
import Postgres
import Rebuild
public import ServiceKit
import ServiceLifecycle
import StoreAPI

/// The role that `payments` runs as; it can do what the service does and nothing else.
let paymentsRole = "counterfoil_payments"

/// Everything that `payments` is made of, in the order in which it starts.
///
/// No I/O.
@Sendable
func composePayments(_ reader: inout SettingsReader, _ logger: Logger) throws -> Composition {
    let settings = PaymentsSettings(&reader)
    let common = settings.common
    try reader.check()
    let spans = common.spans(of: .payments, logger)

    // The service's own database.
    let client = PostgresClient(
        settings: PostgresSettings(
            url: common.databaseURL,
            applicationName: "payments",
            poolSize: common.databasePoolSize,
            prefersIndexes: true
        ),
        logger: logger
    )
    // All instances go by the clock of the database that they share.
    let now: @Sendable () -> Timestamp = { client.time }
    let authenticator = try Authenticator(
        appKeysDirectory: common.appKeysDirectory,
        adminKeysDirectory: common.adminKeysDirectory,
        now: now
    )

    let schema = PostgresSchemaGuard(
        client: client,
        migrations: PaymentsMigrations.all,
        logger: logger
    )

    // Events out: what the outbox holds goes to Kafka.
    let kafka = KafkaSettings(
        bootstrapServers: common.kafkaBootstrapServers,
        clientID: "payments",
        properties: common.kafkaProperties
    )
    let relay = OutboxRelay(
        service: "payments",
        topics: [Topics.paymentsTransactions],
        client: client,
        kafka: kafka,
        topicSettings: TopicSettings(
            partitions: common.topicPartitions,
            replicationFactor: common.topicReplication
        ),
        spans: spans,
        logger: logger
    )

    // Money: attempts are carried out by the runner, which commits their outcomes.
    let (processor, processorClient) = processor(settings, logger)
    let context = PaymentsContext(
        client: client,
        policy: settings.policy,
        owner: LeaseOwner(time: Timestamp.wallClock()),
        environment: settings.environment,
        spans: spans,
        logger: logger,
        now: now
    )
    let runner = ChargeRunner(
        processor: processor,
        context: context,
        limits: settings.limits,
        didCommit: { relay.wake() }
    )

    // Requests in: payments in batches, the rest one by one.
    let didCommit: @Sendable ([ProcessorAttempt]) -> Void = { attempts in
        runner.offer(attempts)
        relay.wake()
    }
    let products = ProductStore()
    let payments = PaymentHandler(
        context: context,
        processor: processor,
        products: products,
        tax: settings.tax,
        didCommit: didCommit
    )
    let batcher = RequestBatcher(
        name: "payments",
        waitMax: common.databaseWaitMax,
        logger: logger,
        perform: payments.accept
    )
    let routes = PaymentRoutes(
        payments: batcher,
        restores: RestoreHandler(context: context, didCommit: { relay.wake() }),
        transactions: TransactionReader(client: client),
        admin: AdminHandler(context: context, runner: runner, didCommit: didCommit),
        resumptions: ResumptionHandler(
            context: context,
            processor: processor,
            products: products,
            didCommit: didCommit
        ),
        defaultMethod: settings.environment == .sandbox
            ? SandboxPaymentMethod.success.rawValue : nil,
        restoreTokenAgeMax: settings.restoreTokenAgeMax,
        now: now
    )
    let accounts = AccountHandler(
        client: client,
        products: products,
        now: now,
        didCommit: { relay.wake() }
    )

    // Events in: the catalog, and what buyers have finished.
    let consumer = EventConsumer(
        name: "payments",
        topics: [Topics.catalogProducts, Topics.fulfillmentTransactions],
        handler: ProjectionHandler(),
        client: client,
        kafka: kafka,
        spans: spans,
        logger: logger
    )

    let sealer = LogSealer(.ledger, client: client, logger: logger)

    let environments = StoreEnvironmentWatch(
        service: .payments,
        environment: settings.environment,
        peer: .receipts,
        at: settings.receiptsURL,
        logger: logger
    )
    let probe = PostgresProbe(of: client, every: common.databaseProbeInterval)
    let readiness = [
        ReadinessCheck("postgres", failure: { probe.problem }),
        ReadinessCheck("topics") { relay.isReady },
        ReadinessCheck("migrations") { schema.isCurrent },
        environments.check,
        ReadinessCheck("clock", failure: { client.clock.problem }),
    ]
    let router = storeRouter(
        authenticator: authenticator,
        readiness: readiness,
        databaseWaitMax: common.databaseWaitMax,
        spans: spans,
        logger: logger
    )
    ContractRoutes(of: .payments).add(to: router)
    environments.addRoute(to: router)
    routes.add(to: router)
    AccountRoutes(accounts: accounts).add(to: router)
    let server = StoreHTTPServer(router: router, settings: common.http, logger: logger)
    var services: [any Service] = [client, probe, schema]
    if let processorClient { services.append(processorClient) }
    services += [relay, sealer, runner, consumer, batcher, environments, server]
    return Composition(
        services: services,
        readiness: readiness
    )
}

/// What charges buyers, with the client of its books if it has any here.
///
/// The sandbox processor exists in the sandbox alone. In production there is none yet, which is said
/// at every start.
private func processor(
    _ settings: PaymentsSettings,
    _ logger: Logger
) -> (processor: any PaymentProcessor, client: PostgresClient?) {
    switch settings.environment {
    case .sandbox:
        let client = PostgresClient(
            settings: PostgresSettings(
                url: settings.sandboxDatabaseURL,
                applicationName: "sandbox-processor",
                poolSize: 2,
                prefersIndexes: true
            ),
            logger: logger
        )
        let sandbox = SandboxProcessor(
            store: SandboxStore(client: client),
            slowness: settings.sandboxSlowness,
            logger: logger
        )
        return (sandbox, client)
    case .production:
        logger.warning(
            """
            There is no payment processor in production yet: every payment is refused with \
            payment_method_not_available, and nothing can be charged
            """
        )
        return (UnconfiguredProcessor(), nil)
    }
}

/// Brings the database of `payments` up to date, as its owner.
@Sendable
func migratePayments(
    _ reader: inout SettingsReader,
    _ logger: Logger
) throws -> @Sendable () async throws -> Void {
    let url = MigrationSettings(&reader).databaseURL
    try reader.check()
    return {
        let migrator = PostgresMigrator(
            url: url,
            migrations: PaymentsMigrations.all,
            logger: logger
        )
        let count = try await migrator.migrate()
        logger.info("migrated", metadata: ["migrations": "\(count)"])
    }
}

/// Makes the books of `payments` again from the event log, and compares them.
@Sendable
func rebuildPayments(
    _ reader: inout SettingsReader,
    _ logger: Logger
) throws -> @Sendable () async throws -> Void {
    let settings = RebuildSettings(&reader, logsOf: [.catalog, .fulfillment])
    try reader.check()
    let run = RebuildRun(
        PaymentsRebuildHandler(consumer: "payments"),
        migrations: PaymentsMigrations.all,
        databases: RebuildRun.Databases(
            live: settings.databaseURL,
            shadow: settings.shadowDatabaseURL,
            logs: Dictionary(
                uniqueKeysWithValues: settings.logURLs.map { ($0.key.rawValue, $0.value) }
            ),
            archives: settings.archivesDirectory
        ),
        logger: logger,
        tell: RebuildLine.write
    )
    return { try await run.run() }
}

/// Every migration of the database of `payments`, in order.
enum PaymentsMigrations {
    static let all: [PostgresMigration] =
        MessagingMigrations.all(role: paymentsRole) + LedgerMigrations.all(role: paymentsRole)
        + [
            own("payments_m0001_payments", PackageResources.m0001_payments_sql),
            own("payments_m0002_sandbox_processor", PackageResources.m0002_sandbox_processor_sql),
            own("payments_m0003_accounts", PackageResources.m0003_accounts_sql),
            own("payments_m0004_resumptions", PackageResources.m0004_resumptions_sql),
            own("payments_m0005_operator", PackageResources.m0005_operator_sql),
            own("payments_m0006_traces", PackageResources.m0006_traces_sql),
            own("payments_m0007_transaction_ids", PackageResources.m0007_transaction_ids_sql),
        ]

    private static func own(_ name: String, _ bytes: [UInt8]) -> PostgresMigration {
        PostgresMigration(
            name: name,
            sql: String(decoding: bytes, as: UTF8.self).replacing("{role}", with: paymentsRole)
        )
    }
}

// So that the HTTP edge answers 503 to what a retry can help.
extension KafkaError: RetriableError {}

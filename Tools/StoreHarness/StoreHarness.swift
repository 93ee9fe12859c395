public import EventTypes
import Foundation
import StoreAPI
import Synchronization

/// A complete store with its own databases, broker and keys, and the four services as processes.
///
/// Everything in it is real. A test adds only signals and proxies that stop traffic at a point.
public final class StoreHarness: Sendable {
    /// The options of the store.
    public let options: StoreOptions
    /// The folder of keys and logs.
    public let directory: String
    /// The keys of the store.
    public let keys: StoreKeys
    /// The PostgreSQL server.
    public let cluster: PostgresCluster
    /// The Kafka broker.
    public let broker: TestBroker
    /// The proxy in front of the broker, if the options ask for it.
    public let kafkaProxy: KafkaProxy?
    /// The proxies in front of PostgreSQL for each instance of the chosen services, by the
    /// instance's name.
    public let instanceProxies: [String: PostgresProxy]
    /// All processes, such as `catalog`, `payments` and `payments-2`.
    public let processes: [ServiceProcess]
    /// The stand-in for Stripe, if the store charges there.
    package let stripe: StoreStripe?
    private let databaseSuffix: String

    private init(
        options: StoreOptions,
        directory: String,
        keys: StoreKeys,
        cluster: PostgresCluster,
        broker: TestBroker,
        kafkaProxy: KafkaProxy?,
        instanceProxies: [String: PostgresProxy],
        databaseSuffix: String,
        firstPorts: [StoreService: Int],
        stripePort: Int?
    ) throws {
        self.options = options
        self.directory = directory
        self.keys = keys
        self.cluster = cluster
        self.broker = broker
        self.kafkaProxy = kafkaProxy
        self.instanceProxies = instanceProxies
        self.databaseSuffix = databaseSuffix
        var settings = StoreSettings(
            options: options,
            keys: keys,
            bootstrapServers: broker.bootstrapServers,
            replicationFactor: broker.replicationFactor,
            contentDirectory: directory + "/content",
            firstPorts: firstPorts
        )
        if let stripePort {
            settings.stripe = try StoreStripe.settings(
                port: stripePort,
                in: directory + "/keys",
                accounts: options.stripeAccounts
            )
        }
        let processes = try StoreService.allCases.flatMap { service in
            try (1...(options.replicas[service] ?? 1)).map { number in
                let name = service.instanceName(number)
                let port = try number == 1 ? firstPorts[service] ?? freePort() : freePort()
                return try ServiceProcess(
                    name: name,
                    service: service.rawValue,
                    port: port,
                    environment: settings.environment(
                        of: service,
                        port: port,
                        database: cluster.url(
                            database: service.rawValue + databaseSuffix,
                            role: service.role,
                            proxyPort: instanceProxies[name]?.port
                        ),
                        ownerDatabase: cluster.url(database: service.rawValue + databaseSuffix)
                    ),
                    logPath: "\(directory)/logs/\(name).log"
                )
            }
        }
        self.processes = processes
        stripe = stripePort.map { port in
            StoreStripe(
                port: port,
                telling: processes.filter { $0.service == StoreService.payments.rawValue }
                    .map(\.url),
                endsProcessing: options.endsProcessing,
                accounts: options.stripeAccounts
            )
        }
    }

    /// Starts a store.
    ///
    /// - Parameter options: The options.
    /// - Returns: The store. The services that were to start are ready.
    /// - Throws: An error if a part of it does not start.
    public static func start(_ options: StoreOptions = StoreOptions()) async throws -> StoreHarness
    {
        let directory = options.directory ?? temporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: directory + "/logs",
            withIntermediateDirectories: true
        )
        let processor = try options.processor ?? .chosen()
        let clock = ContinuousClock()
        let begin = clock.now
        var firstPorts: [StoreService: Int] = [:]
        for service in StoreService.allCases {
            firstPorts[service] = options.usesUsualPorts ? service.usualPort : try freePort()
        }
        let keys = try await keys(for: options, in: directory + "/keys", ports: &firstPorts)
        options.progress("keys in \(directory)/keys", clock.now - begin)

        var lap = clock.now
        let cluster = try await cluster(for: options, in: directory)
        options.progress("PostgreSQL on port \(cluster.port)", clock.now - lap)

        lap = clock.now
        let proxyPort = options.kafkaProxy ? try freePort() : nil
        let broker = try await TestBroker.start(
            advertisedPort: proxyPort,
            nodes: options.brokers
        )
        var kafkaProxy: KafkaProxy?
        if let proxyPort {
            kafkaProxy = try await KafkaProxy.start(inFrontOf: broker.port, on: proxyPort)
        }
        options.progress("broker on \(broker.bootstrapServers)", clock.now - lap)

        var instanceProxies: [String: PostgresProxy] = [:]
        for service in options.postgresProxies {
            for number in 1...(options.replicas[service] ?? 1) {
                instanceProxies[service.instanceName(number)] =
                    try await PostgresProxy.start(inFrontOf: cluster.port)
            }
        }
        let suffix: String
        if case .kept = options.database { suffix = "" } else { suffix = randomSuffix() }
        let store = try StoreHarness(
            options: options,
            directory: directory,
            keys: keys,
            cluster: cluster,
            broker: broker,
            kafkaProxy: kafkaProxy,
            instanceProxies: instanceProxies,
            databaseSuffix: suffix,
            firstPorts: firstPorts,
            stripePort: processor == .stripe ? try freePort() : nil
        )
        do {
            try await store.begin()
        } catch {
            await store.stop(keepingLogs: true)
            throw error
        }
        return store
    }

    private func begin() async throws {
        let clock = ContinuousClock()
        var lap = clock.now
        try await createDatabases()
        options.progress("databases", clock.now - lap)
        if options.migrates && !copiesTemplates {
            lap = clock.now
            try await migrate()
            options.progress("migrations", clock.now - lap)
        }
        try await stripe?.start()
        guard options.startsServices else { return }
        lap = clock.now
        // Create the topics first, so that consumers join their groups only once.
        try await createTopics()
        for service in StoreService.allCases {
            let all = processes.filter { $0.service == service.rawValue }
            for process in options.startsReplicas ? all : Array(all.prefix(1)) {
                try await process.start()
            }
        }
        try await waitUntilReady()
        options.progress("services ready", clock.now - lap)
    }

    /// Migrates all databases.
    public func migrate() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in StoreService.allCases {
                group.addTask { try await self.process(service).run("migrate") }
            }
            try await group.waitForAll()
        }
    }

    /// Waits until every running service is ready.
    ///
    /// - Parameter limit: The time limit of each service.
    /// - Throws: ``HarnessError`` with the end of the log of a service that is not ready.
    public func waitUntilReady(within limit: Duration = .seconds(60)) async throws {
        for process in processes where process.isRunning {
            try await process.waitUntilReady(within: limit)
        }
    }

    /// Starts all processes that are not running, and waits until everything is ready.
    public func heal(within limit: Duration = .seconds(60)) async throws {
        for process in processes where !process.isRunning {
            try await process.start()
        }
        try await waitUntilReady(within: limit)
    }

    /// Returns the process of a service.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - number: The number of the instance, from 1.
    /// - Returns: The process.
    public func process(_ service: StoreService, _ number: Int = 1) -> ServiceProcess {
        let all = processes.filter { $0.service == service.rawValue }
        precondition(all.indices.contains(number - 1), "There is no \(service) number \(number).")
        return all[number - 1]
    }

    /// The addresses of the first instance of each service.
    public var urls: StoreURLs { urls(instance: 1) }

    /// Returns the addresses of an instance of each service, or of the first one if there are
    /// fewer.
    public func urls(instance number: Int) -> StoreURLs {
        func url(_ service: StoreService) -> String {
            process(service, min(number, options.replicas[service] ?? 1)).url
        }
        return StoreURLs(
            catalog: url(.catalog),
            payments: url(.payments),
            receipts: url(.receipts),
            fulfillment: url(.fulfillment)
        )
    }

    /// Returns a client for a buyer.
    ///
    /// - Parameters:
    ///   - account: The buyer's account.
    ///   - app: The buyer's app.
    ///   - number: The number of the instances to use.
    /// - Returns: The buyer's client with a token.
    /// - Throws: An error if the token cannot be signed.
    public func client(
        account: String,
        of app: BundleID = StoreKeys.bundleID,
        instance number: Int = 1
    ) throws -> StoreClient {
        let id = AccountID(unchecked: account)
        var client = StoreClient(
            account: id,
            urls: urls(instance: number),
            token: try keys.token(account: id, app: app)
        )
        client.stripe = stripe
        return client
    }

    /// The client of the administrator.
    public var administrator: StoreAdministrator {
        get throws { StoreAdministrator(urls: urls, token: try keys.administratorToken()) }
    }

    /// Returns the URL of a service's database for its owner or another role.
    public func databaseURL(
        _ service: StoreService,
        role: String = PostgresCluster.owner
    ) -> String {
        cluster.url(database: service.rawValue + databaseSuffix, role: role)
    }

    /// The URL of the server for `counterfoil replay --verify`, with its role.
    public var shadowDatabaseURL: String {
        cluster.url(database: "postgres", role: PostgresCluster.shadowRole)
    }

    /// Returns the URL of a service's database for its owner, through a proxy.
    public func databaseURL(_ service: StoreService, through proxy: PostgresProxy) -> String {
        cluster.url(
            database: service.rawValue + databaseSuffix,
            role: PostgresCluster.owner,
            proxyPort: proxy.port
        )
    }

    /// Stops everything, in the order in which the product is shut down.
    ///
    /// The services of a store whose databases are dropped are killed: nothing could be lost any more,
    /// and an orderly end would take most of a second.
    ///
    /// - Parameter keepingLogs: Whether to keep a temporary folder.
    public func stop(keepingLogs: Bool = false) async {
        await relieve()
        await withTaskGroup(of: Void.self) { group in
            for process in processes {
                group.addTask { [ownsCluster] in
                    guard ownsCluster else { return await process.kill() }
                    // `terminate` itself kills a service that does not end in time.
                    _ = try? await process.terminate()
                }
            }
        }
        await kafkaProxy?.cut()
        for proxy in instanceProxies.values { await proxy.cut() }
        await broker.kill()
        await stripe?.stop()
        switch options.database {
        case .shared:
            // The cluster is removed at exit, with all remaining databases.
            try? await dropDatabases()
            await StoreClusters.shared.takeBack(cluster)
            await LentKeys.shared.takeBack(receiptsPort: process(.receipts).port)
        case .own, .kept:
            // The harness's own server is killed at exit if it cannot be stopped.
            try? cluster.stop(.fast)
        }
        let keepsLogs =
            keepingLogs || ProcessInfo.processInfo.environment["COUNTERFOIL_KEEP_LOGS"] != nil
        if options.directory == nil && !keepsLogs {
            // A remaining temporary folder does no harm.
            try? FileManager.default.removeItem(atPath: directory)
        }
    }

    private func createDatabases() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in StoreService.allCases {
                group.addTask { [cluster, databaseSuffix] in
                    try await cluster.ensureDatabase(
                        service.rawValue + databaseSuffix,
                        connectableBy: service.role,
                        copying: self.copiesTemplates ? ClusterTemplate.database(of: service) : nil
                    )
                }
            }
            try await group.waitForAll()
        }
    }

    /// Whether its databases are copies of the migrated ones in ``ClusterTemplate``.
    private var copiesTemplates: Bool {
        if case .kept = options.database { false } else { options.migrates }
    }

    private func dropDatabases() async throws {
        try await cluster.dropDatabases(StoreService.allCases.map { $0.rawValue + databaseSuffix })
    }

    private static func temporaryDirectory() -> String {
        "/tmp/counterfoil-store-" + randomSuffix().dropFirst()
    }

    private static func randomSuffix() -> String {
        "_" + String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)
    }
}

/// Runs a body with a store and stops the store afterwards.
///
/// If the body throws, the logs are kept.
///
/// - Parameters:
///   - options: The options.
///   - body: Receives the store.
/// - Returns: The result of the body.
/// - Throws: An error of the body or of the start.
public func withStore<Result>(
    _ options: StoreOptions = StoreOptions(),
    _ body: (StoreHarness) async throws -> Result
) async throws -> Result {
    let store = try await StoreHarness.start(options)
    do {
        let result = try await body(store)
        await store.stop()
        return result
    } catch {
        // Frozen processes and blocked connections do not answer queries.
        await store.relieve()
        let diagnosis = await store.diagnosis()
        let tails = store.processes.map { $0.logTail() }.joined(separator: "\n")
        await store.stop(keepingLogs: true)
        throw HarnessError("\(error)\n\(diagnosis)\n\(tails)")
    }
}

import EventTypes
import Foundation
import StoreAPI
import Synchronization

/// One whole store: its own databases, broker and keys, and the four services as processes.
///
/// Everything about it is real; what a test adds is proxies to stop traffic at a point, and signals.
public final class StoreHarness: Sendable {
    /// What it was made from.
    public let options: StoreOptions
    /// The folder with keys and logs.
    public let directory: String
    /// The keys.
    public let keys: StoreKeys
    /// PostgreSQL.
    public let cluster: PostgresCluster
    /// The broker.
    public let broker: TestBroker
    /// In front of the broker, when asked for.
    public let kafkaProxy: KafkaProxy?
    /// In front of PostgreSQL, one for each instance of the services that were named, by its name.
    public let instanceProxies: [String: PostgresProxy]
    /// All processes, such as `catalog`, `payments` and `payments-2`.
    public let processes: [ServiceProcess]
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
        firstPorts: [StoreService: Int]
    ) throws {
        self.options = options
        self.directory = directory
        self.keys = keys
        self.cluster = cluster
        self.broker = broker
        self.kafkaProxy = kafkaProxy
        self.instanceProxies = instanceProxies
        self.databaseSuffix = databaseSuffix
        let settings = StoreSettings(
            options: options,
            keys: keys,
            bootstrapServers: broker.bootstrapServers,
            replicationFactor: broker.replicationFactor,
            contentDirectory: directory + "/content",
            firstPorts: firstPorts
        )
        processes = try StoreService.allCases.flatMap { service in
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
    }

    /// Starts a store.
    ///
    /// - Parameter options: What it is made of.
    /// - Returns: The store; the services that were to start are ready.
    /// - Throws: An error when a part of it does not start.
    public static func start(_ options: StoreOptions = StoreOptions()) async throws -> StoreHarness
    {
        let directory = options.directory ?? temporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: directory + "/logs",
            withIntermediateDirectories: true
        )
        let clock = ContinuousClock()
        let begin = clock.now
        var firstPorts: [StoreService: Int] = [:]
        for service in StoreService.allCases {
            firstPorts[service] = options.usesUsualPorts ? service.usualPort : try freePort()
        }
        // Certificates name the address at which receipts tells their status.
        let keys = try await StoreKeys.create(
            in: directory + "/keys",
            receiptsPort: firstPorts[.receipts] ?? StoreService.receipts.usualPort
        )
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
            firstPorts: firstPorts
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
        if options.migrates {
            lap = clock.now
            try await migrate()
            options.progress("migrations", clock.now - lap)
        }
        guard options.startsServices else { return }
        lap = clock.now
        // Consumers that meet their topics at once join once.
        try await createTopics()
        for process in processes {
            try await process.start()
        }
        try await waitUntilReady()
        options.progress("services ready", clock.now - lap)
    }

    /// Brings all databases up to date.
    public func migrate() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in StoreService.allCases {
                group.addTask { try await self.process(service).run("migrate") }
            }
            try await group.waitForAll()
        }
    }

    /// Waits until every service that runs is ready.
    ///
    /// - Parameter limit: The time each has.
    /// - Throws: ``HarnessError`` with the end of the log of a service that is not.
    public func waitUntilReady(within limit: Duration = .seconds(60)) async throws {
        for process in processes where process.isRunning {
            try await process.waitUntilReady(within: limit)
        }
    }

    /// Starts what does not run, and waits until all is ready.
    public func heal(within limit: Duration = .seconds(60)) async throws {
        for process in processes where !process.isRunning {
            try await process.start()
        }
        try await waitUntilReady(within: limit)
    }

    /// The process of a service.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - number: Which of its instances, from 1.
    /// - Returns: The process.
    public func process(_ service: StoreService, _ number: Int = 1) -> ServiceProcess {
        let all = processes.filter { $0.service == service.rawValue }
        precondition(all.indices.contains(number - 1), "There is no \(service) number \(number).")
        return all[number - 1]
    }

    /// Where the first instance of each service is.
    public var urls: StoreURLs { urls(instance: 1) }

    /// Where an instance of each service is; the first where there are fewer.
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

    /// A buyer.
    ///
    /// - Parameters:
    ///   - account: Who.
    ///   - number: Which instances to speak to.
    /// - Returns: The buyer's client, with a token.
    /// - Throws: An error when the token cannot be signed.
    public func client(account: String, instance number: Int = 1) throws -> StoreClient {
        let id = AccountID(unchecked: account)
        return StoreClient(
            account: id,
            urls: urls(instance: number),
            token: try keys.token(account: id)
        )
    }

    /// The administrator.
    public var administrator: StoreAdministrator {
        get throws { StoreAdministrator(urls: urls, token: try keys.administratorToken()) }
    }

    /// The address of a service's database, as its owner or as another role.
    public func databaseURL(
        _ service: StoreService,
        role: String = PostgresCluster.owner
    ) -> String {
        cluster.url(database: service.rawValue + databaseSuffix, role: role)
    }

    /// The server for `counterfoil replay --verify`, as its role.
    public var shadowDatabaseURL: String {
        cluster.url(database: "postgres", role: PostgresCluster.shadowRole)
    }

    /// The address of a service's database, as its owner, through a proxy.
    public func databaseURL(_ service: StoreService, through proxy: PostgresProxy) -> String {
        cluster.url(
            database: service.rawValue + databaseSuffix,
            role: PostgresCluster.owner,
            proxyPort: proxy.port
        )
    }

    /// Stops everything, in the order that the product is shut down in.
    ///
    /// - Parameter keepingLogs: Whether a temporary folder stays.
    public func stop(keepingLogs: Bool = false) async {
        await relieve()
        await withTaskGroup(of: Void.self) { group in
            for process in processes {
                // A service that does not end in time is killed by `terminate` itself.
                group.addTask { _ = try? await process.terminate() }
            }
        }
        await kafkaProxy?.cut()
        for proxy in instanceProxies.values { await proxy.cut() }
        await broker.kill()
        switch options.database {
        case .shared:
            // The cluster goes at exit, with whatever is left in it.
            try? await dropDatabases()
        case .own, .kept:
            // One of our own is killed at exit if it cannot be stopped.
            try? cluster.stop(.fast)
        }
        let keepsLogs =
            keepingLogs || ProcessInfo.processInfo.environment["COUNTERFOIL_KEEP_LOGS"] != nil
        if options.directory == nil && !keepsLogs {
            // A leftover temporary folder does no harm.
            try? FileManager.default.removeItem(atPath: directory)
        }
    }

    private func createDatabases() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in StoreService.allCases {
                group.addTask { [cluster, databaseSuffix] in
                    try await cluster.ensureDatabase(
                        service.rawValue + databaseSuffix,
                        connectableBy: service.role
                    )
                }
            }
            try await group.waitForAll()
        }
    }

    private func dropDatabases() async throws {
        for service in StoreService.allCases {
            try await cluster.dropDatabase(service.rawValue + databaseSuffix)
        }
    }

    private static func temporaryDirectory() -> String {
        "/tmp/counterfoil-store-" + randomSuffix().dropFirst()
    }

    private static func randomSuffix() -> String {
        "_" + String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)
    }
}

/// Runs a body with a store, which is stopped afterwards; its logs stay when the body throws.
///
/// - Parameters:
///   - options: What it is made of.
///   - body: Gets the store.
/// - Returns: What the body returns.
/// - Throws: What the body throws, or why the store does not start.
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
        // What is frozen or dark answers no question.
        await store.relieve()
        let diagnosis = await store.diagnosis()
        let tails = store.processes.map { $0.logTail() }.joined(separator: "\n")
        await store.stop(keepingLogs: true)
        throw HarnessError("\(error)\n\(diagnosis)\n\(tails)")
    }
}

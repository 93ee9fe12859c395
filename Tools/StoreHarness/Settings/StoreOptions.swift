public import EventTypes
import Foundation

/// The store's four services in the order in which they are started.
public enum StoreService: String, CaseIterable, Sendable {
    /// The service for products.
    case catalog
    /// The service for payments and money.
    case payments
    /// The service for signed transactions.
    case receipts
    /// The service for the queue, deliveries and finishing.
    case fulfillment

    /// The default port.
    public var usualPort: Int {
        switch self {
        case .catalog: 8081
        case .payments: 8082
        case .receipts: 8083
        case .fulfillment: 8084
        }
    }

    /// The role in its database.
    public var role: String { "counterfoil_" + rawValue }

    /// Returns the name of an instance: `payments`, `payments-2`.
    ///
    /// - Parameter number: The number of the instance, from 1.
    /// - Returns: The name.
    func instanceName(_ number: Int) -> String { number == 1 ? rawValue : "\(rawValue)-\(number)" }
}

/// The options of a store.
public struct StoreOptions: Sendable {
    /// The source of the PostgreSQL server.
    public enum Database: Sendable {
        /// The cluster that all stores of this process share, with separate databases for this
        /// store.
        case shared
        /// A separate cluster, which the test may stop and start.
        case own
        /// A persistent cluster in this folder with persistent databases.
        case kept(directory: String)
    }

    /// The processors that a store can charge at.
    public enum Processor: String, CaseIterable, Sendable {
        /// The one that is built into the store.
        case sandbox
        /// A stand-in for Stripe.
        case stripe

        /// The processor of this process: `PROCESSOR`, otherwise the sandbox's.
        ///
        /// - Throws: ``HarnessError`` if there is no such processor.
        public static func chosen() throws -> Processor {
            guard let name = ProcessInfo.processInfo.environment["PROCESSOR"], !name.isEmpty else {
                return .sandbox
            }
            guard let processor = Processor(rawValue: name) else {
                let names = allCases.map(\.rawValue).joined(separator: " or ")
                throw HarnessError("PROCESSOR is \(name); it must be \(names).")
            }
            return processor
        }
    }

    /// The processor that charges; `nil` for the process's.
    public var processor: Processor?
    /// Whether the stand-in for Stripe ends by itself what it processes, after two seconds.
    public var endsProcessing = true
    /// The names of further accounts at the stand-in for Stripe.
    ///
    /// Which apps have them is a setting of `payments`, `STRIPE_APPS`.
    public var stripeAccounts: [String] = []
    /// The apps besides the one of the test accounts.
    public var furtherApps: [BundleID] = []

    /// The folder for keys and logs.
    ///
    /// By default it is a temporary one.
    public var directory: String?
    /// The source of the PostgreSQL server.
    public var database: Database = .shared
    /// Whether a commit waits for the disk.
    ///
    /// Without it tests are faster. That is safe for tests that kill processes, but not for a crash
    /// of the machine.
    public var fsync = false
    /// Whether the data of a separate PostgreSQL server is on a ``MemoryDisk``, which tests can
    /// fill.
    ///
    /// The process must be allowed to mount.
    public var hasOwnDisk = false
    /// Further settings of a separate PostgreSQL server, such as `track_commit_timestamp=on`.
    public var postgresSettings: [String] = []
    /// The number of instances of each service.
    ///
    /// The default is one.
    public var replicas: [StoreService: Int] = [:]
    /// The number of broker nodes.
    ///
    /// Several need an Apache Kafka in `KAFKA_HOME`.
    public var brokers = 1
    /// The number of partitions of each topic.
    ///
    /// Enough for two instances of a service, and for accounts in one partition and in others. The
    /// development broker looks at each partition for each fetch, which the usual ``Topics/partitionCount``
    /// makes expensive where several stores run at a time.
    public var partitions = 4
    /// Whether the services use their default ports instead of free ones.
    public var usesUsualPorts = false
    /// Settings of individual services, which override those of the harness.
    public var settings: [StoreService: [String: String]] = [:]
    /// The services that connect to PostgreSQL through a ``PostgresProxy``.
    ///
    /// Each instance has its own proxy.
    public var postgresProxies: Set<StoreService> = []
    /// Whether all connections to the broker go through a ``KafkaProxy``.
    public var kafkaProxy = false
    /// The services' log level.
    public var logLevel =
        ProcessInfo.processInfo.environment["COUNTERFOIL_LOG_LEVEL"] ?? "info"
    /// Whether leases, backoffs and intervals are short, so that recovery takes only moments.
    ///
    /// `make run` uses the services' defaults.
    public var isImpatient = true
    /// Whether the services wait for the broker as long as they do by default.
    ///
    /// Otherwise they ask it more often, so that the development broker delays little and the end of a
    /// process is noticed soon (``BrokerProgram``).
    public var waitsByDefault = false
    /// Whether the databases are migrated when the store starts.
    public var migrates = true
    /// Whether the services start with the store.
    public var startsServices = true
    /// Whether the second and later instances start with their services.
    ///
    /// A member that leaves while its group forms can keep the group of the development broker from
    /// ever forming. A test that needs one instance at first must not start the others and stop them.
    public var startsReplicas = true
    /// Called for each step of the start with the time it took.
    public var progress: @Sendable (_ done: String, _ time: Duration) -> Void = { _, _ in }

    /// Makes the options that most tests use.
    public init() {}
}

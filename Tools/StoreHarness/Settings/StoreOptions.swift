import EventTypes
import Foundation

/// The store's four services, in the order they are started.
public enum StoreService: String, CaseIterable, Sendable {
    /// Products.
    case catalog
    /// Payments and money.
    case payments
    /// Signed transactions.
    case receipts
    /// The queue, deliveries, finish.
    case fulfillment

    /// The port it listens on unless told otherwise.
    public var usualPort: Int {
        switch self {
        case .catalog: 8081
        case .payments: 8082
        case .receipts: 8083
        case .fulfillment: 8084
        }
    }

    /// The role it works as in its database.
    public var role: String { "counterfoil_" + rawValue }

    /// What one of its instances is called: `payments`, `payments-2`.
    ///
    /// - Parameter number: Which, from 1.
    /// - Returns: The name.
    func instanceName(_ number: Int) -> String { number == 1 ? rawValue : "\(rawValue)-\(number)" }
}

/// What a store is made of.
public struct StoreOptions: Sendable {
    /// Where PostgreSQL comes from.
    public enum Database: Sendable {
        /// The cluster that all stores of this process share, with databases of this store alone.
        case shared
        /// A cluster of its own, which the test may stop and start.
        case own
        /// A cluster that stays, in this folder, with databases that stay.
        case kept(directory: String)
    }

    /// The folder for keys and logs; a temporary one unless given.
    public var directory: String?
    /// Where PostgreSQL comes from.
    public var database: Database = .shared
    /// Whether a commit waits for the disk.
    ///
    /// Off is faster and safe for tests that kill processes, but not the machine.
    public var fsync = false
    /// Whether the data of a PostgreSQL server of its own lie on a ``MemoryDisk``, which can be filled;
    /// only where this process may mount.
    public var hasOwnDisk = false
    /// Further settings of a PostgreSQL server of its own, such as `track_commit_timestamp=on`.
    public var postgresSettings: [String] = []
    /// How many instances of each service; one where nothing is said.
    public var replicas: [StoreService: Int] = [:]
    /// How many nodes the broker has; several only where `KAFKA_HOME` names an Apache Kafka.
    public var brokers = 1
    /// How many partitions each topic has.
    public var partitions = Topics.partitionCount
    /// Whether the services use their usual ports instead of free ones.
    public var usesUsualPorts = false
    /// Settings of one service, over the harness's own.
    public var settings: [StoreService: [String: String]] = [:]
    /// The services whose connections to PostgreSQL go through a ``PostgresProxy``, each instance's
    /// through one of its own.
    public var postgresProxies: Set<StoreService> = []
    /// Whether all connections to the broker go through a ``KafkaProxy``.
    public var kafkaProxy = false
    /// The services' log level.
    public var logLevel =
        ProcessInfo.processInfo.environment["COUNTERFOIL_LOG_LEVEL"] ?? "info"
    /// Whether leases, backoffs and intervals are short, so that recovery takes moments.
    ///
    /// `make run` keeps the services' own.
    public var isImpatient = true
    /// Whether the databases are migrated as the store starts.
    public var migrates = true
    /// Whether the services start with the store.
    public var startsServices = true
    /// Told what happens while it starts, with the time it took.
    public var progress: @Sendable (_ done: String, _ time: Duration) -> Void = { _, _ in }

    /// Options as most tests want them.
    public init() {}
}

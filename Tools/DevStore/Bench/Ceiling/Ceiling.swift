import Foundation
import Postgres
import StoreHarness

/// The SQL of purchases, in the same batches, run by pgbench alone.
///
/// Its scripts are in `deploy/benchmarks/ceiling`, one for each kind of database transaction. Their
/// data are copied from a run.
struct Ceiling: Sendable {
    let store: StoreHarness
    /// Returns the name of the database that stands for a service's database.
    let database: @Sendable (StoreService) -> String
    /// The number of sessions for each database; the sandbox has one more.
    private static let clients = 4
    /// The number of accounts, as in a run.
    let accounts: Int
    /// The number of purchases that each client has made with each script.
    private var done: [String: Int] = [:]

    private init(
        store: StoreHarness,
        database: @escaping @Sendable (StoreService) -> String,
        accounts: Int
    ) {
        self.store = store
        self.database = database
        self.accounts = accounts
    }

    /// The ceiling in separate databases, which the services migrate.
    static func create(_ name: String, in store: StoreHarness, accounts: Int) async throws -> Self {
        let ceiling = Ceiling(
            store: store,
            database: { "\(name)_\($0.rawValue)" },
            accounts: accounts
        )
        for service in WrittenRows.services {
            let database = ceiling.database(service)
            try await store.cluster.createDatabase(database)
            let url = store.cluster.url(database: database)
            try await store.process(service).run(
                "migrate",
                settings: ["DATABASE_URL": url, "MIGRATION_DATABASE_URL": url]
            )
        }
        try await ceiling.setUp()
        return ceiling
    }

    /// The ceiling in the store's own databases, to fill them; the services must be stopped.
    static func filling(_ store: StoreHarness, accounts: Int) async throws -> Self {
        let names = Dictionary(
            uniqueKeysWithValues: WrittenRows.services.map { ($0, store.databaseName($0)) }
        )
        let ceiling = Ceiling(store: store, database: { names[$0] ?? "" }, accounts: accounts)
        try await ceiling.setUp()
        return ceiling
    }

    /// Creates the scripts' functions, and copies samples of the rows that a run has written.
    private func setUp() async throws {
        for service in WrittenRows.services {
            try await pgbench(
                CeilingTransaction.Session.allCases.first { $0.service == service } ?? .payments,
                script: try Self.text(of: "setup"),
                clients: 1,
                rounds: 1,
                mode: "simple"
            )
        }
        try await copy(.payments, Self.paymentsSamples, count: 4)
        try await copy(.receipts, Self.receiptsSamples, count: 4)
        try await copy(.fulfillment, Self.fulfillmentSamples, count: 4)
        let products = try await store.withDatabase(of: .payments) { connection in
            try connection.query("SELECT id, version, is_restorable, data::text FROM products")
                .map { try $0.decode(String.self, Int32.self, Bool.self, String.self) }
        }
        try await store.withDatabase(named: database(.payments)) { connection in
            for (id, version, isRestorable, data) in products {
                try connection.execute(
                    """
                    INSERT INTO products (id, version, is_restorable, data)
                    VALUES (\(id), \(version), \(isRestorable), \(data)::text::json)
                    ON CONFLICT DO NOTHING
                    """
                )
            }
        }
    }

    private func copy(_ service: StoreService, _ sql: String, count: Int) async throws {
        let samples = try await store.withDatabase(of: service) { connection in
            try connection.query("\(unsafe: sql)")
                .map { try $0.decode(String.self, String?.self, [UInt8]?.self) }
        }
        guard samples.count == count else {
            throw HarnessError("\(service) does not hold every kind of row to take samples of.")
        }
        try await store.withDatabase(named: database(service)) { connection in
            for (name, data, bytes) in samples {
                try connection.execute(
                    """
                    INSERT INTO ceiling.samples (name, data, bytes)
                    VALUES (\(name), \(data as String?)::text::json, \(bytes as [UInt8]?))
                    ON CONFLICT DO NOTHING
                    """
                )
            }
        }
    }

    private static let paymentsSamples = """
        (SELECT 'purchasing', NULL::text, data FROM outbox
        WHERE type = 'transaction.purchasing.v1' LIMIT 1)
        UNION ALL (SELECT 'purchased', NULL, data FROM outbox
        WHERE type = 'transaction.purchased.v1' LIMIT 1)
        UNION ALL (SELECT 'plan', delivery_plan::text, NULL FROM transactions LIMIT 1)
        UNION ALL (SELECT 'trace', NULL, traceparent FROM outbox
        WHERE traceparent IS NOT NULL LIMIT 1)
        """

    private static let receiptsSamples = """
        (SELECT 'issued', NULL::text, data FROM outbox
        WHERE type = 'receipt.issued.v1' LIMIT 1)
        UNION ALL (SELECT 'payload', NULL, payload FROM signed_transactions LIMIT 1)
        UNION ALL (SELECT 'signature', NULL, signature FROM signed_transactions LIMIT 1)
        UNION ALL (SELECT 'trace', NULL, traceparent FROM outbox
        WHERE traceparent IS NOT NULL LIMIT 1)
        """

    private static let fulfillmentSamples = """
        (SELECT 'purchased change', NULL::text, data FROM outbox
        WHERE type = 'queue.changed.v1'
            AND unpacked_json(data)::json -> 'transaction' ->> 'state' = 'purchased' LIMIT 1)
        UNION ALL (SELECT 'purchased snapshot', NULL, transaction FROM queue_transactions
        WHERE state = 'purchased' LIMIT 1)
        UNION ALL (SELECT 'finished', NULL, data FROM outbox
        WHERE type = 'transaction.finished.v1' LIMIT 1)
        UNION ALL (SELECT 'trace', NULL, traceparent FROM outbox
        WHERE traceparent IS NOT NULL LIMIT 1)
        """

    // MARK: - Driving

    /// Measures the purchases per second of a part of the way.
    ///
    /// - Parameters:
    ///   - transactions: The database transactions of the part; everything before them is done for all.
    ///   - purchases: At least how many.
    ///   - sizes: How large the batches are.
    /// - Returns: The seconds of the slowest session, and the number of purchases.
    /// - Throws: ``HarnessError`` if a statement fails.
    mutating func drive(
        _ transactions: [CeilingTransaction],
        purchases: Int,
        in sizes: BatchSizes
    ) async throws -> (seconds: Double, purchases: Int) {
        let round = Self.round(of: sizes, atMost: purchases)
        let rounds = max(1, (purchases + round * Self.clients - 1) / (round * Self.clients))
        let longest = try await withThrowingTaskGroup(of: Double.self) { group in
            for session in CeilingTransaction.Session.allCases {
                let own = transactions.filter { $0.session == session }
                guard !own.isEmpty else { continue }
                // The sandbox has one session, which does as much as all sessions of the others
                // together.
                let clients = session == .sandbox ? 1 : Self.clients
                let share = round * Self.clients / clients
                var script = ""
                var variables: [String] = []
                for transaction in own {
                    if !transaction.readsLog {
                        variables.append(
                            "\(transaction.counter)=\(done[transaction.script, default: 0])"
                        )
                        done[transaction.script, default: 0] += rounds * share
                    }
                    script += transaction.script(
                        try Self.text(of: transaction.script),
                        round: share,
                        clients: clients,
                        size: sizes[transaction.batch]
                    )
                }
                group.addTask { [self, script, variables] in
                    try await pgbench(
                        session,
                        script: script,
                        variables: variables,
                        clients: clients,
                        rounds: rounds
                    )
                }
            }
            return try await group.reduce(0) { max($0, $1) }
        }
        return (longest, rounds * round * Self.clients)
    }

    /// The number of purchases that a client makes before it begins again with the first kind of
    /// transaction: a few of the largest batches.
    private static func round(of sizes: BatchSizes, atMost purchases: Int) -> Int {
        let largest = sizes.rows.map(\.size).max() ?? 1
        return max(1, min(Int(largest.rounded(.up)) * 2, purchases / clients))
    }
}

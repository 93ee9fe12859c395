import Foundation
import Postgres
import StoreHarness

/// The written rows by table, and the bytes of the whole cluster's write-ahead log.
struct WrittenRows: Sendable {
    /// The services whose databases a purchase writes to.
    static let services = [StoreService.payments, .receipts, .fulfillment]

    /// The numbers of inserted and updated rows, by `service.table`.
    ///
    /// The months of the outbox count as one table.
    private(set) var rows: [String: Int64] = [:]
    /// The number of bytes in the write-ahead log.
    private(set) var walBytes: Int64 = 0

    /// The number of rows in all tables.
    var total: Int64 { rows.values.reduce(0, +) }

    /// Makes a state from its numbers.
    init(rows: [String: Int64], walBytes: Int64) {
        (self.rows, self.walBytes) = (rows, walBytes)
    }

    /// The number of rows in one table of each service, such as `outbox`.
    func total(of table: String) -> Int64 {
        Self.services.reduce(0) { $0 + rows["\($1.rawValue).\(table)", default: 0] }
    }

    /// Reads how much was written since the cluster was created.
    ///
    /// - Parameters:
    ///   - store: The store whose cluster it is.
    ///   - name: Names the database that stands for a service.
    /// - Throws: ``HarnessError`` while sessions are open, because their writes are counted when
    ///   they end.
    init(in store: StoreHarness, databases name: (StoreService) -> String) async throws {
        for service in Self.services {
            let database = name(service)
            try await eventually(within: .seconds(20), "the sessions of \(database) to end") {
                try await store.cluster.asSuperuser { connection in
                    try connection.query(
                        "SELECT 1 FROM pg_stat_activity WHERE datname = \(database)"
                    ).isEmpty
                } ? true : nil
            }
            let counts = try await store.withDatabase(named: database) { connection in
                try connection.query(
                    """
                    SELECT regexp_replace(relname, '^outbox_.*', 'outbox'),
                        sum(n_tup_ins + n_tup_upd)::bigint
                    FROM pg_stat_user_tables WHERE schemaname <> 'ceiling' GROUP BY 1
                    """
                ).map { try $0.decode(String.self, Int64.self) }
            }
            for (table, count) in counts { rows["\(service.rawValue).\(table)"] = count }
        }
        walBytes = try await store.walBytes()
    }

    /// The difference to an earlier state.
    static func - (later: WrittenRows, earlier: WrittenRows) -> WrittenRows {
        var difference = later
        for (table, count) in earlier.rows { difference.rows[table, default: 0] -= count }
        difference.rows = difference.rows.filter { $0.value > 0 }
        difference.walBytes -= earlier.walBytes
        return difference
    }
}

/// The rows that the services write for a purchase, compared with those of the ceiling.
struct WrittenComparison: Sendable {
    let run: WrittenRows
    let runPurchases: Int
    let ceiling: WrittenRows
    let ceilingPurchases: Int

    /// A table counts if it is written to at least once in this many purchases.
    private static let rarest = 100
    /// Tables that get rows for each batch, account or partition, or every few seconds.
    ///
    /// How many rows those are for a purchase depends on the size of the batches. On a slow machine
    /// the services write them in smaller batches than the ceiling, and so more often.
    private static let tablesOfBatches: Set<Substring> = [
        "app_transactions", "book_memory", "consumer_places", "consumer_positions",
        "credit_balances", "leads", "log_seals", "notification_marks", "queues", "relay_chains",
        "relay_offsets", "relay_place", "signing_chains",
    ]

    /// Rows per purchase of each table that either of the two writes to.
    var tables: [(name: String, run: Double, ceiling: Double)] {
        Set(run.rows.keys).union(ceiling.rows.keys).sorted().map { table in
            (
                table, Double(run.rows[table] ?? 0) / Double(runPurchases),
                Double(ceiling.rows[table] ?? 0) / Double(ceilingPurchases)
            )
        }
    }

    /// The rows and the bytes of the write-ahead log per purchase.
    var totals: (rows: (run: Double, ceiling: Double), bytes: (run: Double, ceiling: Double)) {
        (
            (
                Double(run.total) / Double(runPurchases),
                Double(ceiling.total) / Double(ceilingPurchases)
            ),
            (
                Double(run.walBytes) / Double(runPurchases),
                Double(ceiling.walBytes) / Double(ceilingPurchases)
            )
        )
    }

    /// The ways in which the ceiling does less work than the run, which would make it no ceiling.
    ///
    /// A table with rows for each purchase must get as many rows. Tables with rows for each batch
    /// (places, seals) only have to be written to.
    var shortcomings: [String] {
        tables.compactMap { table, run, ceiling in
            guard self.run.rows[table, default: 0] >= max(20, runPurchases / Self.rarest) else {
                return nil
            }
            guard ceiling > 0 else {
                return "\(table) is written by a purchase, and not by the ceiling"
            }
            guard let name = table.split(separator: ".").last,
                !Self.tablesOfBatches.contains(name)
            else { return nil }
            // The run also has the finishes of purchases that were made before it.
            return ceiling < run.rounded(.down) * 0.99
                ? "\(table) is written less by the ceiling" : nil
        }
    }
}

extension Terminal {
    /// Shows the rows that the two write.
    func show(_ comparison: WrittenComparison) {
        func cells(_ name: String, _ run: Double, _ ceiling: Double, _ digits: Int) -> [String] {
            [name] + [run, ceiling].map { String(format: "%.\(digits)f", $0) }
        }
        let (rows, bytes) = comparison.totals
        table(
            [["rows per purchase", "services", "ceiling"]]
                + comparison.tables.map { cells($0.name, $0.run, $0.ceiling, 3) }
                + [
                    cells("all", rows.run, rows.ceiling, 2),
                    cells("bytes of WAL", bytes.run, bytes.ceiling, 0),
                ],
            rightAligned: [1, 2]
        )
    }
}

extension StoreHarness {
    /// Returns the name of a service's database.
    func databaseName(_ service: StoreService) -> String {
        URL(string: databaseURL(service))?.lastPathComponent ?? ""
    }

    /// Reads how many bytes were written to the write-ahead log since the cluster was created.
    func walBytes() async throws -> Int64 {
        try await cluster.asSuperuser { connection in
            try connection.query("SELECT (pg_current_wal_lsn() - '0/0')::bigint").first?
                .decode(Int64.self) ?? 0
        }
    }

    /// The number of whole pages in the write-ahead log of the cluster so far.
    ///
    /// The first change of a page after a checkpoint writes all of it. Sessions report their numbers up to a
    /// second late.
    func walFullPages() async throws -> Int64 {
        try await cluster.asSuperuser { connection in
            try connection.query("SELECT wal_fpi FROM pg_stat_wal").first?.decode(Int64.self) ?? 0
        }
    }

    /// Runs statements in a database of the store's cluster as its owner.
    func withDatabase<Result: Sendable>(
        named name: String,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> Result
    ) async throws -> Result {
        let settings = PostgresSettings(
            url: cluster.url(database: name),
            applicationName: "bench",
            poolSize: 1,
            statementTimeout: .seconds(120)
        )
        return try await withRunningClient(settings) { client in
            try await client.withConnection(body)
        }
    }
}

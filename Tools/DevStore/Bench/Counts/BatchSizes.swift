import Foundation
import Postgres
import StoreHarness

/// The average number of purchases or events in each database transaction of a run.
///
/// A row names the database transaction that wrote it (`xmin`), so tables whose rows are never
/// updated give exact numbers.
struct BatchSizes: Sendable {
    /// A kind of database transaction, and the rows that count it.
    private struct Kind {
        let name: String
        let service: StoreService
        let rows: String
    }

    private static let kinds =
        [
            Kind(
                name: "accept",
                service: .payments,
                rows: "outbox WHERE type = 'transaction.purchasing.v1'"
            ),
            Kind(name: "charge", service: .payments, rows: "sandbox_processor.charges WHERE true"),
            Kind(name: "settle", service: .payments, rows: "ledger_postings WHERE true"),
            Kind(
                name: "finish",
                service: .fulfillment,
                rows: "outbox WHERE type = 'transaction.finished.v1'"
            ),
        ]
        + [
            Kind(
                name: "consume in fulfillment",
                service: .fulfillment,
                rows: "credit_entries WHERE true"
            ),
            Kind(
                name: "consume in receipts",
                service: .receipts,
                rows: "transaction_finishes WHERE true"
            ),
        ]

    /// The averages by name, for the kinds that occurred: `accept`, `charge`, `settle`, `finish`,
    /// `seal` for the ledger, and for each service `consume in payments` and `relay in payments`.
    private(set) var sizes: [String: Double] = [:]

    /// All averages, in order.
    var rows: [(name: String, size: Double)] {
        sizes.map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    /// An average by its name; 1 for a kind that did not occur.
    subscript(name: String) -> Double { max(sizes[name] ?? 1, 1) }

    /// These averages, completed by another run's where there are none.
    func completed(by other: BatchSizes) -> BatchSizes {
        var completed = self
        completed.sizes.merge(other.sizes) { own, _ in own }
        return completed
    }

    /// The largest batches that the services make, for filling a store.
    static let largest: BatchSizes = {
        var sizes = BatchSizes()
        for kind in kinds { sizes.sizes[kind.name] = 1000 }
        sizes.sizes["consume in payments"] = 1000
        for service in WrittenRows.services { sizes.sizes["relay in \(service.rawValue)"] = 1000 }
        sizes.sizes["seal"] = 1000
        return sizes
    }()

    private init() {}

    /// Reads the averages of everything that was written since a database transaction.
    init(in store: StoreHarness, since xid: Int64) async throws {
        for kind in Self.kinds {
            sizes[kind.name] = try await store.withDatabase(of: kind.service) { connection in
                try connection.query(
                    """
                    SELECT 1000 * count(*) / greatest(count(DISTINCT source.xmin::text), 1)
                    FROM (
                        SELECT xmin FROM \(unsafe: kind.rows) AND xmin::text::bigint >= \(xid)
                    ) AS source
                    """
                ).first.map { Double(try $0.decode(Int64.self)) / 1000 }
            }
            if sizes[kind.name] == 0 { sizes[kind.name] = nil }
        }
        // Payments only updates rows when it consumes. It reads the same events as receipts.
        sizes["consume in payments"] = sizes["consume in receipts"]
        for service in WrittenRows.services {
            let logs = try await store.withDatabase(of: service) { connection in
                try connection.query(
                    """
                    SELECT log, (1000 * avg(row_count))::bigint FROM log_seals
                    WHERE xmin::text::bigint >= \(xid) GROUP BY log
                    """
                ).map { try $0.decode(String.self, Int64.self) }
            }
            for (log, size) in logs {
                sizes[log == "ledger" ? "seal" : "relay in \(service.rawValue)"] =
                    Double(size) / 1000
            }
        }
    }

    /// The next database transaction id of a cluster: everything written from now on has this id or
    /// a later one.
    static func mark(_ store: StoreHarness) async throws -> Int64 {
        try await store.cluster.asSuperuser { connection in
            try connection.query(
                "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
            ).first?.decode(Int64.self) ?? 0
        }
    }
}

extension Terminal {
    /// Shows the average batches of a run.
    func show(_ sizes: BatchSizes) {
        table(
            [["rows per database transaction", "mean"]]
                + sizes.rows.map { name, size in [name, String(format: "%.1f", size)] },
            rightAligned: [1]
        )
    }

    /// Shows the average batches of two runs.
    func show(_ first: BatchSizes, _ second: BatchSizes) {
        table(
            [["rows per database transaction", "over HTTP", "draining"]]
                + first.rows.map { name, size in
                    [name, String(format: "%.1f", size), String(format: "%.1f", second[name])]
                },
            rightAligned: [1, 2]
        )
    }
}

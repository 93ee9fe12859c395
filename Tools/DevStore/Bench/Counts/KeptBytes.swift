import Postgres
import StoreHarness

/// The bytes that the databases of a store keep, with indexes and everything stored out of line.
///
/// The sandbox processor's own books count apart, because a store with a real processor has none.
struct KeptBytes: Sendable {
    /// The bytes of the four services.
    private(set) var services: Int64
    /// The bytes of the sandbox processor.
    private(set) var sandbox: Int64

    /// Makes a state from its numbers.
    init(services: Int64, sandbox: Int64) {
        (self.services, self.sandbox) = (services, sandbox)
    }

    /// Vacuums all databases of a store and reads the sizes of their tables.
    ///
    /// - Throws: An error of PostgreSQL.
    init(in store: StoreHarness) async throws {
        self.init(services: 0, sandbox: 0)
        try await store.vacuum()
        for service in StoreService.allCases {
            let sizes = try await store.withDatabase(of: service) { connection in
                try connection.query(
                    """
                    SELECT nspname = 'sandbox_processor',
                        coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::bigint
                    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                    WHERE relkind IN ('r', 'm') AND nspname NOT LIKE 'pg\\_%'
                        AND nspname NOT IN ('information_schema', 'ceiling')
                    GROUP BY 1
                    """
                ).map { try $0.decode(Bool.self, Int64.self) }
            }
            for (isSandbox, bytes) in sizes {
                if isSandbox { sandbox += bytes } else { services += bytes }
            }
        }
    }

    /// The difference to an earlier state.
    static func - (later: KeptBytes, earlier: KeptBytes) -> KeptBytes {
        KeptBytes(
            services: later.services - earlier.services,
            sandbox: later.sandbox - earlier.sandbox
        )
    }
}

extension StoreHarness {
    /// Removes dead rows from all databases, and updates the statistics of their tables.
    ///
    /// The superuser also does it for PostgreSQL's own tables, in which the migrations have left many rows.
    /// Otherwise autovacuum would find that work in the first minutes of a store.
    func vacuum() async throws {
        for service in StoreService.allCases {
            _ = try await withDatabase(of: service, role: "postgres") { connection in
                try connection.execute("VACUUM (ANALYZE)")
            }
        }
    }
}

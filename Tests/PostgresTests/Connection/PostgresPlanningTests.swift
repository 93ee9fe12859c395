import Postgres
import Testing
import TestSupport

/// The planning of the services' statements.
@Suite(.timeLimit(.minutes(10)))
struct PostgresPlanningTests {
    @Test func aStatementIsPlannedOnceASessionHoweverFewItAsksFor() async throws {
        try await withTestDatabase { database in
            let settings = PostgresSettings(
                url: database.url,
                applicationName: "tests",
                poolSize: 1,
                prefersIndexes: true
            )
            try await withSession(settings) { session in
                try await session.execute("CREATE TABLE things (id bigint PRIMARY KEY)")
                for id in 0..<8 {
                    _ = try await session.query(
                        "SELECT id FROM things WHERE id = ANY(\([Int64(id)]))"
                    )
                }
                let plans = try await session.query(
                    """
                    SELECT generic_plans, custom_plans FROM pg_prepared_statements
                    WHERE statement LIKE 'SELECT id FROM things%'
                    """
                ).map { try $0.decode(Int64.self, Int64.self) }
                #expect(plans.map(\.0) == [8])
                #expect(plans.map(\.1) == [0])
            }
        }
    }
}

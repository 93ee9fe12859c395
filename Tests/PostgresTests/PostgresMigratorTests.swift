import Logging
import Postgres
import TestSupport
import Testing

/// Migrations are applied once each, wholly or not at all, and never backwards.
@Suite(.timeLimit(.minutes(10))) struct PostgresMigratorTests {
    private static let first = PostgresMigration(
        name: "m0001_first",
        sql: """
            -- Several statements; a function with semicolons of its own.
            CREATE TABLE things (id bigint PRIMARY KEY);
            CREATE FUNCTION two() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1 + 1; END; $$;
            INSERT INTO things VALUES (two());
            """
    )
    private static let second = PostgresMigration(
        name: "m0002_second",
        bytes: Array("ALTER TABLE things ADD COLUMN name text".utf8)
    )

    private func migrator(
        _ database: TestDatabase,
        _ migrations: PostgresMigration...
    ) -> PostgresMigrator {
        PostgresMigrator(
            url: database.url,
            migrations: migrations,
            logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    private func tables(_ database: TestDatabase) async throws -> Set<String> {
        try await database.withClient(poolSize: 1) { client async throws in
            try await client.withConnection { connection in
                Set(
                    try connection.query(
                        "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
                    ).map { try $0.decode(String.self) }
                )
            }
        }
    }

    private func state(
        _ migrator: PostgresMigrator,
        _ database: TestDatabase,
        role: String? = nil
    ) async throws -> PostgresMigrationState {
        try await database.withClient(role: role, poolSize: 1) { client async throws in
            try await client.withConnection { connection in
                try migrator.state(on: connection)
            }
        }
    }

    @Test func eachMigrationIsAppliedOnce() async throws {
        try await withTestDatabase { database async throws in
            let both = migrator(database, Self.first, Self.second)
            #expect(try await state(both, database) == .pending(["m0001_first", "m0002_second"]))
            #expect(try await migrator(database, Self.first).migrate() == 1)
            #expect(try await state(both, database) == .pending(["m0002_second"]))
            #expect(try await both.migrate() == 1)
            #expect(try await both.migrate() == 0)
            #expect(try await state(both, database) == .current)
            #expect(try await tables(database) == ["things", "schema_migrations"])
            // A service asks with its own role, which has no grants here.
            #expect(try await state(both, database, role: "counterfoil_catalog") == .current)
        }
    }

    @Test func migratorsAtTheSameTimeApplyEachMigrationOnce() async throws {
        try await withTestDatabase { database async throws in
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        try await migrator(database, Self.first, Self.second).migrate()
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts.sorted() == [0, 0, 0, 0, 2])
        }
    }

    @Test func aMigrationThatFailsLeavesNothing() async throws {
        try await withTestDatabase { database async throws in
            let broken = PostgresMigration(
                name: "m0002_broken",
                sql: "CREATE TABLE half (id int); INSERT INTO things VALUES (2);"
            )
            let error = await #expect(throws: PostgresError.self) {
                try await migrator(database, Self.first, broken).migrate()
            }
            #expect(error?.code == .uniqueViolation)
            #expect("\(String(describing: error))".contains("m0002_broken"))
            #expect(try await tables(database) == ["things", "schema_migrations"])
            #expect(
                try await state(migrator(database, Self.first, broken), database)
                    == .pending(["m0002_broken"])
            )
        }
    }

    @Test func aMigrationThatEndsItsTransactionIsRefused() async throws {
        try await withTestDatabase { database async throws in
            let escaping = PostgresMigration(name: "m0001_escaping", sql: "SELECT 1; COMMIT;")
            await #expect(throws: PostgresError.self) {
                try await migrator(database, escaping).migrate()
            }
            #expect(
                try await state(migrator(database, escaping), database)
                    == .pending(["m0001_escaping"])
            )
        }
    }

    @Test func anAppliedMigrationThatReadsOtherwiseIsRefused() async throws {
        try await withTestDatabase(migrations: [Self.first]) { database async throws in
            let altered = PostgresMigration(name: Self.first.name, sql: Self.first.sql + " ")
            let error = await #expect(throws: PostgresError.self) {
                try await migrator(database, altered, Self.second).migrate()
            }
            #expect(error?.code == .migrationChanged)
            #expect("\(String(describing: error))".contains("m0001_first"))
            #expect(
                try await state(migrator(database, Self.first, Self.second), database)
                    == .pending(["m0002_second"])
            )
        }
    }

    @Test func aDatabaseOfANewerProgramIsLeftAlone() async throws {
        try await withTestDatabase(migrations: [Self.first, Self.second]) { database async throws in
            let old = migrator(database, Self.first)
            #expect(try await state(old, database) == .newer(["m0002_second"]))
            let error = await #expect(throws: PostgresError.self) { try await old.migrate() }
            #expect(error?.code == .databaseIsNewer)
            #expect("\(String(describing: error))".contains("m0002_second"))
        }
    }

    @Test func aCancelledMigratorStopsWaiting() async throws {
        try await withTestDatabase { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                // Another session holds the migrator's lock for a long time.
                try await client.withAdvisoryLock(0x6D69_6772_6174_6573) {
                    let waiter = Task { try await migrator(database, Self.first).migrate() }
                    try await eventually("the migrator to wait") {
                        try await database.sessions(like: "%pg_try_advisory_lock%") >= 1
                            ? () : nil
                    }
                    waiter.cancel()
                    await #expect(throws: CancellationError.self) { try await waiter.value }
                }
            }
        }
    }
}

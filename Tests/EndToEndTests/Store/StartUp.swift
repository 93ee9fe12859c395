import EventTypes
import Foundation
import NIOHTTP1
import Postgres
import Testing
import TestSupport

extension EndToEnd {
    /// Services with a problem at their start report it clearly and never start partially.
    @Suite
    struct StartUp {
        @Test(arguments: StoreService.allCases)
        func allProblemsOfTheConfigurationAreReportedAtOnce(_ service: StoreService) async throws {
            try await withStore(.stopped) { store in
                let process = store.process(service)
                process.set([
                    "HTTP_PORT": "many", "DATABASE_POOL_SIZE": "0", "LOG_LEVEL": "loud",
                    "KAFKA_BOOTSTRAP_SERVERS": "",
                ])
                try await process.start()
                #expect(try await process.waitForExit() == .code(78))
                let log = process.log()
                for key in [
                    "HTTP_PORT", "DATABASE_POOL_SIZE", "LOG_LEVEL", "KAFKA_BOOTSTRAP_SERVERS",
                ] {
                    #expect(log.contains(key), "\(log)")
                }
            }
        }

        @Test(arguments: StoreService.allCases)
        func aDirectoryOfKeysThatIsNotThereIsNamed(_ service: StoreService) async throws {
            try await withStore(.stopped) { store in
                let process = store.process(service)
                process.set(["ADMIN_KEYS_DIRECTORY": store.directory + "/nowhere"])
                try await process.start()
                #expect(try await process.waitForExit() == .code(78))
                #expect(process.log().contains("/nowhere"), "\(process.log())")
            }
        }

        @Test func settingsHelpAndVersionNeedNoConfiguration() async throws {
            for service in StoreService.allCases {
                let path = try BuiltExecutables.path(service.rawValue)
                let settings = try await ChildProcess.run(path, ["settings"])
                #expect(settings.contains("DATABASE_URL"))
                #expect(try await ChildProcess.run(path, ["--help"]).contains("migrate"))
                #expect(try await ChildProcess.run(path, ["--version"]).contains(service.rawValue))
                await #expect(throws: HarnessError.self) {
                    try await ChildProcess.run(path, ["dance"])
                }
            }
        }

        /// The databases of most tests are copies of those that a process of the same build has migrated.
        @Test func aStoreOfTestsHasAllMigrationsOfThisBuild() async throws {
            try await withStore(.stopped) { store in
                for service in StoreService.allCases {
                    let said = try await store.process(service).run("migrate")
                    #expect(said.contains("migrations=0"), "\(said)")
                }
            }
        }

        @Test func portThatIsTakenIsNamed() async throws {
            try await withStore { store in
                let first = store.process(.catalog)
                let second = try ServiceProcess(
                    name: "catalog-again",
                    service: "catalog",
                    port: first.port,
                    environment: first.environment,
                    logPath: store.directory + "/logs/catalog-again.log"
                )
                try await second.start()
                #expect(try await second.waitForExit() == .code(1))
                #expect(second.log().contains("\(first.port)"), "\(second.log())")
                #expect(await first.isReady())
            }
        }

        @Test func servicesStartBeforePostgresAndWaitForIt() async throws {
            try await withStore(.with(database: .own, startsServices: false)) { store in
                try store.cluster.stop(.fast)
                for process in store.processes { try await process.start() }
                try await store.expectAllToWait(saying: "Cannot connect to PostgreSQL")
                try await store.cluster.start()
                try await store.waitUntilReady()
            }
        }

        @Test func servicesStartBeforeTheBrokerAndWaitForIt() async throws {
            try await withStore(.stopped) { store in
                await store.broker.kill()
                for process in store.processes { try await process.start() }
                try await store.expectAllToWait(saying: "The broker cannot be reached")
                try await store.broker.restart()
                try await store.waitUntilReady()
                try await store.importSampleCatalog()
                try await store.expectWhole([try await store.buy()])
            }
        }

        @Test func databaseOfANewerVersionIsLeftAlone() async throws {
            try await withStore(.stopped) { store in
                _ = try await store.withDatabase(of: .payments) { connection in
                    try connection.execute(
                        """
                        INSERT INTO schema_migrations (name, checksum)
                        SELECT 'payments_m9999_from_the_future', checksum
                        FROM schema_migrations LIMIT 1
                        """
                    )
                }
                let process = store.process(.payments)
                let error = await #expect(throws: HarnessError.self) {
                    try await process.run("migrate")
                }
                #expect("\(error.map(String.init(describing:)) ?? "")".contains("m9999"))
                let before = try await store.contents(of: .payments)
                try await process.start()
                #expect(try await process.waitForExit() == .code(1))
                #expect(process.log().contains("m9999"), "\(process.log())")
                #expect(try await store.contents(of: .payments) == before)
            }
        }

        @Test func servicesCanOnlyDoWhatTheyDo() async throws {
            try await withStore(.stopped) { store in
                for (service, table) in [
                    (StoreService.payments, "ledger_postings"),
                    (.payments, "outbox"), (.catalog, "outbox"), (.receipts, "outbox"),
                    (.fulfillment, "outbox"), (.fulfillment, "consumer_places"),
                    (.fulfillment, "credit_entries"), (.fulfillment, "credit_balances"),
                ] {
                    for sql in [
                        "DELETE FROM \(table)", "TRUNCATE \(table)", "DROP TABLE \(table)",
                        "ALTER TABLE \(table) DISABLE TRIGGER ALL",
                    ] {
                        let isRefused = try await store.isRefused(sql, in: service, as: service)
                        #expect(isRefused, "\(service.role): \(sql)")
                    }
                }
                // A role cannot read the books of another service either.
                let error = await #expect(throws: PostgresError.self) {
                    try await store.withDatabase(
                        of: .payments,
                        role: StoreService.receipts.role
                    ) { connection in
                        _ = try connection.query("SELECT 1")
                    }
                }
                #expect(
                    [.connectFailed, .poolExhausted].contains(error?.code),
                    "receipts connects to payments' database: \(String(describing: error))"
                )
            }
        }
    }
}

extension StoreOptions {
    /// A store whose services are started by the test.
    static var stopped: StoreOptions { .with(startsServices: false) }
}

extension StoreHarness {
    /// Checks that every service is alive, is not ready, and reports what it is waiting for.
    func expectAllToWait(saying words: String) async throws {
        for process in processes {
            try await eventually("\(process.name) to live") {
                try await StoreHTTP.send(.GET, process.url + "/health/live").status == 200
                    ? true : nil
            }
            #expect(await !process.isReady())
            try await eventually("\(process.name) to say: \(words)") {
                process.log().contains(words) ? true : nil
            }
        }
    }

    /// Returns a hash of the rows in each table of a service.
    fileprivate func contents(of service: StoreService) async throws -> [String: String] {
        try await withDatabase(of: service) { connection in
            var hashes: [String: String] = [:]
            let tables = try connection.query(
                """
                SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
                WHERE schemaname IN ('public', 'sandbox_processor')
                """
            ).map { try $0.decode(String.self) }
            for table in tables {
                hashes[table] = try connection.query(
                    """
                    SELECT coalesce(md5(string_agg(r::text, '|' ORDER BY r::text)), 'empty')
                    FROM \(unsafe: table) AS r
                    """
                ).first?.decode(String.self)
            }
            return hashes
        }
    }

    /// Whether a statement fails because of a missing permission.
    func isRefused(
        _ sql: String,
        in service: StoreService,
        as other: StoreService
    ) async throws -> Bool {
        do {
            try await withDatabase(of: service, role: other.role) { connection in
                _ = try connection.execute("\(unsafe: sql)")
            }
            return false
        } catch {
            guard let error = error as? PostgresError else { throw error }
            return error.code == .insufficientPrivilege
        }
    }
}

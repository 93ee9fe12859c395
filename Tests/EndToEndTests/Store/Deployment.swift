import Foundation
import Postgres
import Testing
import TestSupport

extension EndToEnd {
    /// The scripts in `deploy`, and the commands in its README.
    @Suite
    struct Deployment {
        private static let root = SourceTree.root

        private static func text(_ path: String) throws -> String {
            try String(contentsOf: root.appending(path: path), encoding: .utf8)
        }

        /// `docker compose restart` starts this step and the database at the same time.
        @Test func rolesWaitForPostgres() async throws {
            try await withStore(.with(database: .own, startsServices: false)) { store in
                let secrets = store.directory + "/passwords"
                try FileManager.default.createDirectory(
                    atPath: secrets,
                    withIntermediateDirectories: true
                )
                for role in [
                    "superuser", "owner", "catalog", "payments", "receipts", "fulfillment",
                    "operator", "reader", "archivist", "shadow",
                ] {
                    try Data("password-of-\(role)".utf8)
                        .write(to: URL(fileURLWithPath: secrets + "/" + role))
                }
                try await store.cluster.createDatabase("catalog")
                try store.cluster.stop(.fast)
                let roles = try await start(
                    Self.root.appending(path: "deploy/postgres/roles").path,
                    [secrets],
                    ["PGHOST": "127.0.0.1", "PGPORT": "\(store.cluster.port)"],
                    in: store
                )
                try await roles.says("roles: waiting for PostgreSQL")
                #expect(roles.isRunning)
                try await store.cluster.start()
                #expect(await roles.exit() == .code(0), "\(roles.said)")
                let databases = try await store.cluster.asSuperuser { connection in
                    try connection.query(
                        """
                        SELECT datname FROM pg_database
                        WHERE datname IN ('catalog', 'payments', 'receipts', 'fulfillment')
                        """
                    ).count
                }
                #expect(databases == 4)
            }
        }

        @Test func rolesGiveUpOnADatabaseThatStaysAway() async throws {
            try await withStore(.with(database: .own, startsServices: false)) { store in
                let away = try await start(
                    Self.root.appending(path: "deploy/postgres/roles").path,
                    [store.directory + "/nowhere"],
                    ["PGHOST": "127.0.0.1", "PGPORT": "1"],
                    in: store
                )
                #expect(await away.exit() == .code(1))
                #expect(away.said.contains("there is no password in"), "\(away.said)")
            }
        }

        @Test func seedWaitsForTheCatalog() async throws {
            try await withStore { store in
                let catalog = store.process(.catalog)
                await catalog.kill()
                let seed = try await start(
                    Self.root.appending(path: "deploy/compose/seed").path,
                    [Self.root.appending(path: "deploy/sample/catalog.json").path],
                    [:],
                    in: store
                )
                try await seed.says("seed: waiting for the catalog")
                #expect(seed.isRunning)
                try await catalog.start()
                #expect(await seed.exit() == .code(0), "\(seed.said)")
                try await store.waitUntilSellable(SampleCatalog.coins)
            }
        }

        @Test func seedSaysAtOnceWhatIsWrongWithTheCatalogsFile() async throws {
            try await withStore { store in
                let file = store.directory + "/no-catalog.json"
                try Data("{".utf8).write(to: URL(fileURLWithPath: file))
                let seed = try await start(
                    Self.root.appending(path: "deploy/compose/seed").path,
                    [file],
                    [:],
                    in: store
                )
                #expect(await seed.exit() != .code(0))
                #expect(!seed.said.contains("waiting"), "\(seed.said)")
            }
        }

        @Test(.onlySandbox("It pays with a payment method of the sandbox."))
        func theReadmesPurchaseWithCurlWorks() async throws {
            let readme = try Self.text("deploy/README.md")
            let section = try #require(readme.split(separator: "### With curl").last)
            let block = try #require(section.split(separator: "```bash\n").dropFirst().first)
            let commands = try #require(block.split(separator: "\n```").first)
            try await withStore { store in
                try await store.importSampleCatalog()
                let script = store.directory + "/curl.sh"
                try Data(try addressed(String(commands), to: store).utf8)
                    .write(to: URL(fileURLWithPath: script))
                let shell = try await start("/bin/bash", ["-eux", script], [:], in: store)
                #expect(await shell.exit() == .code(0), "\(shell.said)")
                for said in [
                    #""productID":"com.example.coins.100""#, #""signedTransaction":"#,
                    #""finishedAt":"#, #""amount":100"#, "event: ",
                ] {
                    let text = shell.said.replacing(" : ", with: ":")
                    #expect(text.contains(said), "\(said) in \(shell.said)")
                }
            }
        }

        /// Returns the commands for a store without a proxy.
        ///
        /// Each path is sent to the service in the proxy's table.
        private func addressed(_ commands: String, to store: StoreHarness) throws -> String {
            let table = try Self.text("deploy/front/default.conf.template")
            let rules = table.matches(of: /(?m)^\s*~(\S+)\s+([a-z]+);$/)
                .compactMap { match in
                    (try? Regex(String(match.1))).map { ($0, String(match.2)) }
                }
            let origin = "http://localhost:8080"
            var parts = commands.split(separator: origin, omittingEmptySubsequences: false)[...]
            try #require(parts.count > 5)
            var text = String(parts.removeFirst())
            for part in parts {
                let path = part.prefix { !"?\" \n".contains($0) }.replacing("$id", with: "1")
                let service = try #require(
                    rules.first { (try? $0.0.firstMatch(in: path)) != nil }?.1
                )
                let urls = store.urls
                let url = [
                    "catalog": urls.catalog, "payments": urls.payments, "receipts": urls.receipts,
                    "fulfillment": urls.fulfillment,
                ]
                text += try #require(url[service]) + part
            }
            return text.replacing("docker compose run --rm -T operator", with: "counterfoil")
        }

        /// Starts a program with the operator's settings and with `counterfoil` in its path.
        private func start(
            _ program: String,
            _ arguments: [String],
            _ settings: [String: String],
            in store: StoreHarness
        ) async throws -> ChildProcess {
            var environment = store.operatorEnvironment.merging(settings) { $1 }
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            environment["PATH"] = BuiltExecutables.directory + ":" + path
            environment["LD_LIBRARY_PATH"] =
                ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
            return try await ChildProcess.start(
                program,
                arguments,
                environment: environment,
                logPath: store.directory + "/script-\(UUID().uuidString).log"
            )
        }
    }
}

extension ChildProcess {
    /// The output so far.
    fileprivate var said: String { (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? "" }

    fileprivate func says(_ words: String) async throws {
        try await eventually("it to say: \(words)") { said.contains(words) ? true : nil }
    }
}

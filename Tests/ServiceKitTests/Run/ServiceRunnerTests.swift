import EventTypes
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import Testing

@testable import ServiceKit

@Suite(.timeLimit(.minutes(10)))
struct ServiceRunnerTests {
    private struct Failure: Error, CustomStringConvertible { var description = "it broke" }

    private struct OneShot: Service {
        var failure: Failure?
        func run() async throws { if let failure { throw failure } }
    }

    /// The output and the log of a run.
    private struct Run {
        var status: ProcessStatus
        var output: String
        var log: String
    }

    private func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        compose: @Sendable (inout SettingsReader, Logger) throws -> Composition = { _, _ in
            Composition(services: [OneShot()], readiness: [])
        },
        migrate: @escaping ServiceWork = { _, _ in {} },
        rebuild: @escaping ServiceWork = { _, _ in {} }
    ) async -> Run {
        let (log, output) = (Collected(), Collected())
        let runner = ServiceRunner(
            name: "payments",
            environment: environment,
            writeOutput: { output.append($0) },
            writeLog: { log.append($0) },
            trapsSignals: false
        )
        let status = await runner.run(
            arguments: arguments,
            compose: compose,
            migrate: migrate,
            rebuild: rebuild
        )
        return Run(status: status, output: output.text, log: log.text)
    }

    @Test func helpTeachesAndVersionTells() async {
        let help = await run(["--help"])
        #expect(help.status == .success)
        for word in ["Usage:", "migrate", "settings", "/health/ready", "78"] {
            #expect(help.output.contains(word))
        }
        #expect(await run(["--version"]).output == "payments \(ServiceHelp.version)\n")
    }

    @Test func anUnknownCommandIsAUsageError() async {
        let unknown = await run(["serv"])
        #expect(unknown.status == .usage)
        #expect(unknown.log == "payments: unknown command: serv\nTry: payments --help\n")
    }

    @Test func everyInvalidSettingIsOneCriticalLine() async {
        let refused = await run([], environment: ["HTTP_PORT": "http", "LOG_LEVEL": "loud"]) {
            reader,
            _ in
            _ = CommonSettings(&reader, service: .payments, defaultPort: 8082)
            try reader.check()
            return Composition(services: [], readiness: [])
        }
        #expect(refused.status == .configuration)
        let lines = refused.log.split(separator: "\n")
        #expect(lines.count == 6)
        for line in lines { #expect(line.contains(" critical payments: invalid setting key=")) }
        for key in ["LOG_LEVEL", "HTTP_PORT", "DATABASE_URL", "APP_KEYS_DIRECTORY"] {
            #expect(lines.count { $0.contains("key=\(key) ") } == 1)
        }
    }

    @Test func anErrorOfComposingIsOneCriticalLine() async {
        let refused = await run([]) { _, _ in throw ServiceKitError(.keys, "no keys") }
        #expect(refused.status == .configuration)
        #expect(refused.log.hasSuffix("critical payments: cannot start error=\"no keys\"\n"))
    }

    @Test func aServiceThatFailsIsOneCriticalLineAndStatusOne() async {
        let failed = await run([]) { _, _ in
            Composition(services: [OneShot(failure: Failure())], readiness: [])
        }
        #expect(failed.status == .failure)
        #expect(failed.log.contains("critical payments: service failed error=\"it broke\" part="))
        #expect(failed.log.split(separator: "\n").count { $0.contains(" critical ") } == 1)
    }

    @Test func aTakenPortIsNamed() async throws {
        let taken = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(taken.localAddress?.port)
        let keys = try TestKeys()
        let authenticator = try keys.authenticator()
        let failed = await run([]) { _, logger in
            let router = storeRouter(authenticator: authenticator, readiness: [], logger: logger)
            let settings = HTTPSettings(port: port)
            let server = StoreHTTPServer(router: router, settings: settings, logger: logger)
            return Composition(services: [server], readiness: [])
        }
        #expect(failed.status == .failure)
        #expect(failed.log.contains("127.0.0.1:\(port) is taken by another process"))
        #expect(failed.log.contains("HTTP_PORT"))
        try await taken.close()
        keys.remove()
    }

    @Test func migrationRunsItsWork() async {
        let isDone = Mutex(false)
        let done = await run(["migrate"], environment: ["MIGRATION_DATABASE_URL": "postgresql://o"])
        {
            _,
            _ in
            Composition(services: [], readiness: [])
        } migrate: { reader, _ in
            let settings = MigrationSettings(&reader)
            return { if settings.databaseURL == "postgresql://o" { isDone.withLock { $0 = true } } }
        }
        #expect(done.status == .success)
        #expect(isDone.withLock { $0 })
        let failed = await run(["migrate"]) { _, _ in
            Composition(services: [], readiness: [])
        } migrate: { _, _ in
            { throw Failure() }
        }
        #expect(failed.status == .failure)
        #expect(failed.log.hasSuffix("critical payments: migration failed error=\"it broke\"\n"))
    }

    @Test func settingsListsEveryKeyOnce() async {
        let listed = await run(["settings"], environment: ["DATABASE_URL": "hunter2"]) {
            reader,
            _ in
            _ = CommonSettings(&reader, service: .payments, defaultPort: 8082)
            try reader.check()
            return Composition(services: [], readiness: [])
        } migrate: { reader, _ in
            _ = MigrationSettings(&reader)
            return {}
        }
        #expect(listed.status == .success)
        let keys = listed.output.split(separator: "\n").compactMap {
            $0.split(separator: " ").first
        }
        #expect(keys.first == "KEY")
        #expect(Set(keys).count == keys.count)
        for key in ["LOG_LEVEL", "HTTP_PORT", "DATABASE_URL", "MIGRATION_DATABASE_URL"] {
            #expect(keys.contains { $0 == key })
        }
        #expect(listed.output.contains("8082"))
        #expect(!listed.output.contains("hunter2"))
    }
}

import Foundation
import NIOHTTP1
import Testing
import TestSupport

extension EndToEnd {
    /// A service with a low limit of file descriptors reports this and does not busy-loop.
    @Suite
    struct Descriptors {
        private static let prlimit = "/usr/bin/prlimit"

        @Test func withTooFewItRefusesToStartAndSaysWhatHelps() async throws {
            try await withStore(.stopped) { store in
                let child = try await start(store.process(.catalog), allowed: 100)
                #expect(await child.exit() == .code(78))
                let log = store.process(.catalog).log()
                #expect(log.contains("too few open files are allowed"), "\(log)")
                #expect(log.contains("needed=127"), "\(log)")
                #expect(log.contains("LimitNOFILE"), "\(log)")
            }
        }

        @Test func withFewItServesFewerConnectionsAndSaysSo() async throws {
            try await withStore(.stopped) { store in
                let process = store.process(.catalog)
                let child = try await start(process, allowed: 512)
                try await eventually("the warning") {
                    process.log().contains("fewer connections are served") ? true : nil
                }
                #expect(process.log().contains("connections=352"), "\(process.log())")
                child.send(SIGTERM)
                _ = await child.exit()
            }
        }

        @Test func whereNoneIsLeftConnectionsWaitAndTheServiceRests() async throws {
            try await withStore { store in
                let process = store.process(.catalog)
                let id = try #require(process.id)
                let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/fd")
                try await allow("\(open.count + 3)", to: id)
                let connections = try (0..<30).map { _ in try RawConnection(port: process.port) }
                for connection in connections {
                    connection.send("GET /health/live HTTP/1.1\r\nHost: catalog\r\n\r\n")
                }
                try await eventually("the warning") {
                    process.log().contains("Connections cannot be accepted") ? true : nil
                }
                let before = try #require(process.usage).cpuSeconds
                let start = ContinuousClock.now
                try await eventually("three seconds in this state") {
                    start.duration(to: .now) >= .seconds(3) ? true : nil
                }
                let used = try #require(process.usage).cpuSeconds - before
                let seconds = start.duration(to: .now) / .seconds(1)
                #expect(used < seconds / 3, "It spins: \(used) s of CPU in \(seconds) s")
                try await allow("1024", to: id)
                for connection in connections {
                    #expect(try await connection.read(until: "live").contains("200 OK"))
                }
                let metrics = try await StoreHTTP.send(.GET, process.url + "/metrics").text
                let count = try #require(
                    metrics.firstMatch(of: /http_accept_failures_total (\d+)/)
                ).1
                #expect((1...100).contains(Int(count) ?? 0), "\(count)")
                let warnings = process.log().components(separatedBy: "cannot be accepted").count - 1
                #expect(warnings <= 3)
            }
        }

        /// Starts a service with this limit of file descriptors.
        private func start(
            _ process: ServiceProcess,
            allowed count: Int
        ) async throws -> ChildProcess {
            try await ChildProcess.start(
                Self.prlimit,
                [
                    "--nofile=\(count):\(count)", "--",
                    try BuiltExecutables.path(process.service),
                ],
                environment: process.environment,
                logPath: process.logPath
            )
        }

        /// Sets the soft limit of a process's file descriptors.
        private func allow(_ count: String, to id: Int32) async throws {
            try await ChildProcess.run(Self.prlimit, ["--pid", "\(id)", "--nofile=\(count):"])
        }
    }
}

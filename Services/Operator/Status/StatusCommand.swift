import ArgumentParser
import ClockAndIDs
import EventTypes
import Foundation
import NIOCore
import NIOHTTP1

/// `counterfoil status`: all services on one screen.
struct StatusCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows each service's health, version, pending work and dead letters.",
        discussion: """
            OUTBOX counts the events that are not published yet. DEAD counts the events that a \
            service could not apply, PARKED those that wait behind them.

            Exits with 0 if every service is ready and every database answers, otherwise with 69 \
            (77 if credentials are rejected).

            Examples:
              counterfoil status
              counterfoil status --json | jq '.services[] | select(.health != "ready")'

            JSON (times are milliseconds since 1970):
              {"services": [{"service", "url", "health", "detail", "version",
               "database": {"schema", "outbox": {"count", "isAtLeast", "oldest"},
                 "dead", "parked", "work": {"charges" | "unfinished" | "webhooks" |
                 "notifications": as "outbox"}}, "databaseProblem"}]}
            """
    )

    @OptionGroup var store: StoreOptions
    @OptionGroup var databases: DatabaseOptions

    func perform() async throws {
        let (store, databases) = (store, databases)
        let found = await withTaskGroup(of: (StatusReport.Entry, OperatorError.Code?).self) {
            group in
            for service in StoreOptions.Service.allCases {
                group.addTask { await Self.entry(of: service, store, databases) }
            }
            return await group.reduce(into: [:]) { found, next in found[next.0.service] = next }
        }
        let order = StoreOptions.Service.allCases.compactMap { found[$0] }
        let report = StatusReport(services: order.map(\.0))
        if store.json {
            try Console.say(json: report)
        } else {
            let palette = store.output.palette
            Console.say(palette.table(report.table, numbers: [3, 4, 5]))
            Console.say("")
            Console.say(palette.table(report.waiting(at: .wallClock()), numbers: [1]))
        }
        guard !report.isWell else {
            if !store.json { report.complaints.forEach(Console.complain) }
            return
        }
        let codes = Set(order.compactMap(\.1))
        throw OperatorError(
            codes == [.refusedCredentials] ? .refusedCredentials : .unavailable,
            report.complaints.joined(separator: "\n")
        )
    }

    private static func entry(
        of service: StoreOptions.Service,
        _ store: StoreOptions,
        _ databases: DatabaseOptions
    ) async -> (StatusReport.Entry, OperatorError.Code?) {
        let connection = store.connection(to: service, token: nil)
        var entry = StatusReport.Entry(service: service, url: connection.baseURL, health: "away")
        var code: OperatorError.Code?
        do {
            let health = try await connection.health()
            entry.health = health.isReady ? "ready" : "not ready"
            entry.detail = health.detail
            entry.version = health.version
            if !health.isReady { code = .unavailable }
        } catch {
            entry.detail = error.description
            code = error.code
        }
        do {
            entry.database = try await DatabaseReader.read(databases.address(of: service)) {
                try StatusStore.status(of: service, on: $0)
            }
        } catch {
            let problem = error as? OperatorError
            entry.databaseProblem = problem?.description ?? "\(error)"
            code = code ?? problem?.code ?? .failed
        }
        return (entry, code)
    }
}

extension StoreConnection {
    /// The readiness that a service reports.
    struct Health: Sendable {
        let isReady: Bool
        /// The dependencies that the service waits for.
        let detail: String?
        let version: String?
    }

    /// Asks a service for its readiness; no token is needed.
    func health() async throws(OperatorError) -> Health {
        struct Live: Decodable {
            var version: String?
        }
        let answer = try await send(.GET, "/health/live", timeout: .seconds(5))
        // Old services do not report a version.
        let version = (try? JSONDecoder().decode(Live.self, from: answer))?.version
        do {
            _ = try await send(.GET, "/health/ready", timeout: .seconds(5))
            return Health(isReady: true, detail: nil, version: version)
        } catch {
            // The service's own explanation, without the title: "Waiting for: kafka."
            let words = error.description.split(separator: "\n").last.map(String.init)
            return Health(isReady: false, detail: words, version: version)
        }
    }
}

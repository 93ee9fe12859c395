import ArgumentParser
import ClockAndIDs
import EventTypes
import Foundation
import NIOCore
import NIOHTTP1
import OperatorCore

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
        let urls = StoreOptions.Service.allCases.map {
            ($0, store.connection(to: $0, token: nil).baseURL)
        }
        let (report, codes) = await StatusReader(
            urls: Dictionary(uniqueKeysWithValues: urls),
            databases: databases.addresses()
        ).answer()
        if store.json {
            try Console.say(json: report)
        } else {
            let palette = store.output.palette
            Console.say(palette.table(report.table, numbers: [3, 4, 5]))
            Console.say("")
            let now = await storeTime()
            Console.say(palette.table(report.waiting(at: now), numbers: [1]))
        }
        guard !report.isWell else {
            if !store.json { report.complaints.forEach(Console.complain) }
            return
        }
        throw OperatorError(
            codes == [.refusedCredentials] ? .refusedCredentials : .unavailable,
            report.complaints.joined(separator: "\n")
        )
    }

    /// The store's present, from which work has an age.
    ///
    /// While the database of `payments` is away, it is the time of this machine.
    private func storeTime() async -> StoreTime {
        let now = try? await DatabaseReader.storeTime(databases.addresses())
        return now ?? .wallClock()
    }
}

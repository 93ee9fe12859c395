import ArgumentParser
import EventTypes
import Foundation
import NIOHTTP1
import OperatorCore
import StoreAPI

/// The time for which a command waits for the store's clock.
struct ClockWaitOptions: ParsableArguments {
    @Option(help: "How many seconds to wait until everything due is done.")
    var timeout = 60

    @Flag(
        help: """
            Also wait until every service has acted on what the advance has published, and count the \
            notifications. It reads the databases, as 'counterfoil lag' does.
            """
    )
    var untilApplied = false

    @OptionGroup var databases: DatabaseOptions

    func validate() throws {
        guard (1...3000).contains(timeout) else {
            throw ValidationError("--timeout must be from 1 to 3000 seconds.")
        }
    }

    /// Begins an advance, and waits until it is there.
    func advance(_ request: ClockAdvanceRequest, _ options: ClockOptions) async throws {
        let content = try StoreConnection.Content.json(
            request,
            headers: [("Idempotency-Key", UUID().uuidString)]
        )
        let payments = try await options.connection()
        let deadline = deadline()
        let applied = try await appliedWait()
        // A repetition is the same advance, because it has the same key.
        try await Self.persistently(until: deadline) {
            _ = try await payments.send(.POST, Routes.adminClockAdvance, content)
        }
        try await untilThere(options, deadline, applied)
    }

    /// Waits until the advance is done and every service follows the clock, and prints the clock.
    func untilThere(_ options: ClockOptions) async throws {
        try await untilThere(options, deadline(), try await appliedWait())
    }

    private func deadline() -> ContinuousClock.Instant { .now + .seconds(timeout) }

    /// The wait for the other services; `nil` if the command does not wait for them.
    private func appliedWait() async throws -> AppliedWait? {
        guard untilApplied else { return nil }
        return try await AppliedWait(databases.addresses())
    }

    private func untilThere(
        _ options: ClockOptions,
        _ deadline: ContinuousClock.Instant,
        _ applied: AppliedWait?
    ) async throws {
        var applied = applied
        let payments = try await options.connection()
        let progress = ProgressLine()
        defer { progress.end() }
        var waits = ClockWaits()
        while true {
            let start = ContinuousClock.now
            var clock: ClockResponse?
            try await Self.persistently(until: deadline) { clock = try await payments.clock() }
            guard let clock else { return }
            if clock.status == .failed {
                throw OperatorError(.failed, ClockReport(clock).text)
            }
            let behind = clock.status == .ready ? await behind(clock.step, options) : []
            let isThere = clock.status == .ready && behind.isEmpty
            let unapplied = try await isThere ? applied?.look(at: clock.now) ?? [] : []
            if isThere, applied?.isOver ?? true {
                progress.end()
                try options.show(clock)
                if !options.store.json {
                    Console.say(ClockReport(clock).done)
                    if let applied { Console.say(try await applied.text()) }
                }
                return
            }
            waits.note(behind + unapplied + (clock.waitsFor ?? []), at: .now)
            let waiting = waits.text(at: .now)
            progress.show(
                "\(clock.now) of \(clock.target ?? clock.now)"
                    + (waiting.map { "; it waits for \($0)" } ?? "")
            )
            guard ContinuousClock.now < deadline else {
                let target = clock.target ?? clock.now
                throw OperatorError(
                    .stillWaiting,
                    """
                    The store's clock is at \(clock.now) of \(target) and goes on by itself. It waits \
                    for: \(waiting ?? "nothing in particular").
                    """
                )
            }
            // The store looks for due work to answer, so questions must not take all its time.
            let look = ContinuousClock.now - start
            try await Task.sleep(for: min(max(.milliseconds(50), look * 5), .milliseconds(500)))
        }
    }

    /// The services that do not follow a change of the clock yet.
    private func behind(_ step: Int64, _ options: ClockOptions) async -> [String] {
        var behind: [String] = []
        for service in StoreOptions.Service.allCases {
            let connection = options.store.connection(to: service, token: nil)
            do throws(OperatorError) {
                let answer = try await connection.send(
                    .GET,
                    FollowedClockResponse.path,
                    as: FollowedClockResponse.self
                )
                if answer.step < step { behind.append(service.rawValue) }
            } catch {
                behind.append("\(service.rawValue) (away)")
            }
        }
        return behind
    }

    /// Asks until the answer comes, or a refusal, or the deadline.
    private static func persistently(
        until deadline: ContinuousClock.Instant,
        _ ask: () async throws -> Void
    ) async throws {
        while true {
            do {
                return try await ask()
            } catch let error as OperatorError
                where error.code == .unavailable && ContinuousClock.now < deadline
            {
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }
}

import ArgumentParser
import EventTypes
import Foundation
import Messaging
import OperatorCore

/// `counterfoil dead-letters redrive`.
struct RedriveCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "redrive",
        abstract: "Asks services to apply an account's dead and parked events again, in order.",
        discussion: """
            Within a second, the service applies the events of each key in one database \
            transaction, or refuses the request and says why.

            Examples:
              counterfoil dead-letters redrive ada
              counterfoil dead-letters redrive ada --service receipts
              counterfoil dead-letters redrive --all

            JSON:
              {"redrives": [{"service", "key", "asked", "applied", "open", "reason"}]}
            """
    )

    @OptionGroup var databases: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var keys: KeysOption
    @OptionGroup var admin: AdminOption
    @OptionGroup var why: ReasonOption

    @Argument(help: "The key: an account, or a product.")
    var key: String?

    @Flag(help: "Redrive every key that has a dead letter.")
    var all = false

    @Option(help: "Redrive in one service only: payments, receipts or fulfillment.")
    var service: StoreOptions.Service?

    @Option(help: "How many seconds to wait for the service, from 0 to 600.")
    var timeout = 10

    func validate() throws {
        guard (key == nil) == all else {
            throw ValidationError("Name one key, or use --all.")
        }
        guard (0...600).contains(timeout) else {
            throw ValidationError("--timeout must be from 0 to 600 seconds.")
        }
    }

    /// The outcome of a redrive of one key in one service.
    struct Redrive: Encodable {
        let service: StoreOptions.Service
        let key: String
        /// The number of events that were open.
        let asked: Int
        /// The number of events that were applied.
        var applied = 0
        /// The number of events that are still open.
        var open: Int
        /// Whether the service has not started on them yet.
        var isWaiting: Bool
        /// The reason of the first event that is still open.
        var reason: String?
    }

    func perform() async throws {
        var redrives: [Redrive] = []
        for service in service.map({ [$0] }) ?? OperatedService.consumers {
            redrives += try await ask(service)
        }
        guard !redrives.isEmpty else {
            throw OperatorError(
                .failed,
                key.map { "Nothing of '\($0)' is dead or parked." } ?? "Nothing is dead or parked."
            )
        }
        let deadline = ContinuousClock.now + .seconds(timeout)
        for index in redrives.indices {
            try await follow(&redrives[index], until: deadline)
        }
        if output.json {
            try Console.say(json: ["redrives": redrives])
        } else {
            for redrive in redrives { Console.say(Self.summary(of: redrive)) }
        }
        try Self.check(redrives)
    }

    /// Asks one service to redrive the keys, and returns what was asked for.
    private func ask(_ service: StoreOptions.Service) async throws -> [Redrive] {
        let wanted = key
        let act = Act(decidedBy: try admin.name(keys: keys.directory), reason: why.reason)
        return try await DatabaseReader.change(databases.address(of: service)) { connection in
            let keys = try wanted.map { [$0] } ?? DeadLetterStore.openKeys(on: connection)
            return try keys.compactMap { key in
                let count = try DeadLetters.requestRedrive(
                    key: key,
                    consumer: service.rawValue,
                    by: act,
                    on: connection
                )
                guard count > 0 else { return nil }
                return Redrive(
                    service: service,
                    key: key,
                    asked: count,
                    open: count,
                    isWaiting: true
                )
            }
        }
    }

    /// Waits until the service has applied the events or refused the request.
    private func follow(
        _ redrive: inout Redrive,
        until deadline: ContinuousClock.Instant
    ) async throws {
        let key = redrive.key
        redrive = try await DatabaseReader.withSession(databases.address(of: redrive.service)) {
            [redrive] connection in
            var redrive = redrive
            while true {
                let (requested, open, first) = try await connection.run { connection in
                    let counts = try DeadLetterStore.open(key: key, on: connection)
                    let first = try DeadLetterStore.letters(
                        .init(key: key, limit: 1),
                        on: connection
                    ).first
                    return (counts.requested, counts.all, first)
                }
                redrive.isWaiting = requested > 0
                redrive.open = open
                redrive.applied = max(0, redrive.asked - open)
                redrive.reason = first?.reason
                if !redrive.isWaiting || ContinuousClock.now >= deadline { return redrive }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    static func summary(of redrive: Redrive) -> String {
        let what = "\(redrive.service.rawValue), \(redrive.key)"
        if redrive.isWaiting {
            return "\(what): asked for \(redrive.asked); the service has not started on them yet."
        }
        if redrive.open == 0 { return "\(what): \(redrive.applied) applied, in order." }
        return "\(what): refused again, \(redrive.open) wait: \(redrive.reason ?? "unknown")"
    }

    private static func check(_ redrives: [Redrive]) throws(OperatorError) {
        if redrives.contains(where: { !$0.isWaiting && $0.open > 0 }) {
            throw OperatorError(
                .failed,
                """
                Some events cannot be applied yet. Fix the cause and redrive again, or discard the \
                dead one: see 'counterfoil dead-letters list'.
                """
            )
        }
        if redrives.contains(where: \.isWaiting) {
            throw OperatorError(
                .stillWaiting,
                "The request stays; the service applies it once it runs: see 'counterfoil status'."
            )
        }
    }
}

import ArgumentParser
import EventTypes
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

    func perform() async throws {
        let runner = RedriveRunner(databases: databases.addresses())
        let act = Act(decidedBy: try admin.name(keys: keys.directory), reason: why.reason)
        var redrives: [Redrive] = []
        for service in service.map({ [$0] }) ?? OperatedService.consumers {
            redrives += try await runner.ask(service, key: key, by: act)
        }
        guard !redrives.isEmpty else {
            throw OperatorError(
                .failed,
                key.map { "Nothing of '\($0)' is dead or parked." } ?? "Nothing is dead or parked."
            )
        }
        let deadline = ContinuousClock.now + .seconds(timeout)
        for index in redrives.indices {
            try await runner.follow(&redrives[index], until: deadline)
        }
        if output.json {
            try Console.say(json: ["redrives": redrives])
        } else {
            for redrive in redrives { Console.say(Self.summary(of: redrive)) }
        }
        try Self.check(redrives)
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

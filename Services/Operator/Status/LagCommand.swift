import ArgumentParser
import EventTypes
import OperatorCore

/// `counterfoil lag`: the number of events that each consumer is behind.
struct LagCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "lag",
        abstract: "Shows how many events each consumer has yet to act on, and how old they are.",
        discussion: """
            The events are counted in the producers' logs and the consumers' places, so the \
            counts are right on any broker, and even while the broker is down. Events that a \
            consumer ignores do not count, and neither do its dead letters. Counting stops after \
            10,000.

            Examples:
              counterfoil lag
              counterfoil lag --max-age 60 || echo "a consumer is a minute behind"

            JSON:
              {"consumers": [{"consumer", "topic", "producer", "events", "isAtLeast",
               "oldest" (milliseconds since 1970, or null), "ageMilliseconds"}]}
            """
    )

    @OptionGroup var databases: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Exit with 1 if an event has waited for longer than this many seconds.")
    var maxAge: Int?

    func validate() throws {
        if let maxAge, maxAge < 0 {
            throw ValidationError("--max-age must not be negative.")
        }
    }

    func perform() async throws {
        // Events carry the store's time, so they have an age by the store's clock.
        let now = try await DatabaseReader.storeTime(databases.addresses())
        let report = try await LagReader(databases: databases.addresses()).report(at: now)
        if output.json {
            try Console.say(json: report)
        } else {
            Console.say(output.palette.table(report.table, numbers: [2]))
        }
        if let maxAge,
            let late = report.consumers.max(by: { $0.ageMilliseconds < $1.ageMilliseconds }),
            late.ageMilliseconds > Int64(maxAge) * 1000
        {
            throw OperatorError(
                .failed,
                """
                \(late.consumer) is \(Age(milliseconds: late.ageMilliseconds)) behind \(late.topic).
                See 'counterfoil status', and the log of \(late.consumer).
                """
            )
        }
    }
}

import ArgumentParser
import StoreHarness

/// `devstore raise`: measures how fast subscribers are told of a higher price, and who waits.
struct RaiseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "raise",
        abstract: "Measures how fast subscribers are told of a higher price, and who waits.",
        discussion: """
            The part of `devstore bench` that --raise adds, alone. A million subscriptions are \
            written into the table, beside up to 5000 that are bought. Then the catalog schedules \
            a higher price, and all are told, while the bought ones renew. It takes tens of \
            minutes, and several gigabytes of memory and of the temporary folder, because all \
            services get a million events. It shows how far it is. Use a release build: make raise.

            Exits with 1 if a goal is missed. The goals are the longest database transaction \
            meanwhile, and the rate of renewals, divided by that without a raise.
            """
    )

    @Option(help: "How many subscriptions to write into the table.")
    var subscriptions = 1_000_000

    @OptionGroup var store: MeasuredStore

    func validate() throws {
        guard subscriptions > 0 else { throw ValidationError("--subscriptions must be positive.") }
    }

    func run() async throws {
        try await store.measure(
            "A raise for \(Terminal.describe(subscriptions)) subscriptions",
            target: "raise",
            // The measurement sells its own subscription.
            hasSampleCatalog: false
        ) { [subscriptions] terminal, store in
            let raise = BenchRaise(terminal: terminal, store: store, count: subscriptions)
            let result = try await raise.run()
            terminal.show(result)
            return terminal.judge(BenchGoals.goals(of: result))
        }
    }
}

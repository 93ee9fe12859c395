import ArgumentParser
import StoreHarness

/// `devstore offers`: measures what an offer and a code add to the cost of a purchase.
struct OffersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offers",
        abstract: "Measures what an offer and a code add to the cost of a purchase.",
        discussion: """
            The part of `devstore bench` that --offers adds, alone: subscriptions that have ended \
            are bought again, as many at the ordinary price, with a promotional offer, and with a \
            code. Use a release build: make offers.

            Exits with 1 if a goal is missed. The goals are ratios of two measurements of the \
            same run.
            """
    )

    @Option(help: "How many subscriptions to buy in each of the three ways.")
    var purchases = 5_000

    @OptionGroup var store: MeasuredStore

    func validate() throws {
        guard purchases > 0 else { throw ValidationError("--purchases must be positive.") }
    }

    func run() async throws {
        try await store.measure(
            "Offers: \(Terminal.describe(purchases)) purchases of each kind",
            target: "offers",
            // The measurement sells its own subscription.
            hasSampleCatalog: false
        ) { [purchases] terminal, store in
            let offers = BenchOffers(terminal: terminal, store: store, count: purchases)
            let result = try await offers.run()
            terminal.show(result)
            return terminal.judge(BenchGoals.goals(of: result))
        }
    }
}

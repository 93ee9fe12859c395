import ArgumentParser
import TestSupport

/// `devstore bench`: how many finished purchases a second, and at what cost.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures finished purchases per second, and what they cost.",
        discussion: """
            Starts a fresh store and drives it over HTTP: each purchase is paid for, seen delivered \
            on the account's stream, and finished. Then the books are audited. Everything, the load \
            too, runs on this machine. Use a release build: make bench.

            The last line is JSON.
            """
    )

    @Option(help: "How many purchases.")
    var purchases = 100_000

    @Option(help: "How many accounts buy; each has a stream of its own.")
    var accounts = 256

    @Option(help: "How many purchases are in flight at once.")
    var inFlight = 2048

    @Option(help: "How many connections to payments, and as many to fulfillment.")
    var connections = 128

    @Option(help: "Begin this many purchases a second, instead of as many as go.")
    var rate: Int?

    @OptionGroup var store: MeasuredStore

    func validate() throws {
        guard purchases > 0, accounts > 0, inFlight > 0, connections > 0 else {
            throw ValidationError("All numbers must be positive.")
        }
    }

    func run() async throws {
        let load = BenchDriver.Load(
            purchases: purchases,
            accounts: accounts,
            inFlight: inFlight,
            connections: connections,
            rate: rate
        )
        try await store.measure(
            "Benchmark: \(Terminal.describe(purchases)) purchases",
            target: "bench"
        ) { terminal, store in
            let report = try await BenchRun(terminal: terminal, store: store, load: load).run()
            guard report.isClean else {
                throw HarnessError("The guarantee is broken: \(report.verdict).")
            }
            return true
        }
    }
}

import ArgumentParser
import StoreHarness

/// `devstore bench`: how many finished purchases a second, and at what cost.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures finished purchases per second, and what they cost.",
        discussion: """
            Starts a fresh store and drives it over HTTP: each purchase is paid for, seen delivered \
            on the account's stream, and finished. Then it drains a backlog of accepted payments, \
            begins purchases at a fifth of the rate for their latency, and audits the books. The \
            same SQL in the same batches, driven by pgbench alone, is the ceiling that the rates \
            are held against. Everything, the load too, runs on this machine. Use a release build: \
            make bench.

            The last line is JSON.
            """
    )

    @Option(help: "How many purchases.")
    var purchases = 50_000

    @Option(help: "How many accounts buy; each has a stream of its own.")
    var accounts = 256

    @Option(help: "How many purchases are in flight at once.")
    var inFlight = 2048

    @Option(help: "How many connections to payments, and as many to fulfillment.")
    var connections = 128

    @Option(
        help: "How many accepted payments are drained; as many as purchases, 20000 at most."
    )
    var backlog: Int?

    @Option(help: "For how many seconds purchases are begun at a fifth of the rate.")
    var openSeconds = 20

    @Option(help: "The sizes of the ledger to measure at, such as 10000,1000000; 'none' for none.")
    var growth = "10000,100000,1000000"

    @Option(help: "How many purchases are driven at each size.")
    var growthPurchases = 10_000

    @Option(
        help: "Keep the result in deploy/benchmarks, under the date and this name of the machine."
    )
    var record: String?

    @Flag(help: "Measure nothing: only draw the chart of the results in deploy/benchmarks again.")
    var chart = false

    @OptionGroup var store: MeasuredStore

    private var sizes: [Int]? {
        guard growth != "none" else { return [] }
        let sizes = growth.split(separator: ",").map { Int($0.filter { $0 != "_" }) ?? 0 }
        return sizes.allSatisfy { $0 > 0 } ? sizes : nil
    }

    func validate() throws {
        let numbers = [
            purchases, accounts, inFlight, connections, openSeconds, growthPurchases, backlog ?? 1,
        ]
        guard numbers.allSatisfy({ $0 > 0 }), sizes != nil else {
            throw ValidationError("All numbers must be positive.")
        }
        let isName = record?.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        guard isName ?? true else {
            throw ValidationError("A machine's name is of letters, digits and hyphens.")
        }
    }

    func run() async throws {
        if chart { return try BenchRecord.drawChart() }
        let plan = BenchRun.Plan(
            load: BenchDriver.Load(
                purchases: purchases,
                accounts: accounts,
                inFlight: inFlight,
                connections: connections,
                rate: nil
            ),
            // As many as wait in memory where nothing else is set.
            backlog: backlog ?? min(purchases, 20_000),
            openSeconds: openSeconds,
            growth: sizes ?? [],
            growthPurchases: growthPurchases
        )
        try await store.measure(
            "Benchmark: \(Terminal.describe(purchases)) purchases",
            target: "bench"
        ) { [record] terminal, store in
            let report = try await BenchRun(terminal: terminal, store: store, plan: plan).run()
            let record = try await BenchRecord(report, of: store, machine: record)
            terminal.show(report)
            try record.keep(terminal)
            terminal.line(record.json)
            return true
        }
    }
}

import ArgumentParser
import StoreHarness

/// `devstore bench`: measures how many purchases finish per second, and what they cost.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures how many purchases finish per second, and what they cost.",
        discussion: """
            Starts a fresh store and sends it purchases over HTTP. Each is paid for, seen as \
            delivered on the account's stream, and finished. Then it drains a backlog of \
            accepted payments, measures latency at a fifth of the rate, and audits the books. \
            The rates are divided by a yardstick: generic purchases that PostgreSQL alone commits \
            on this machine, measured before and after. They are also compared with a ceiling: \
            the same SQL in the same batches, run by pgbench alone. Everything, including the \
            load generator, runs on this machine. Use a release build: make bench.

            The last line of output is JSON.
            """
    )

    @Option(help: "How many purchases to make.")
    var purchases = 50_000

    @Option(help: "How many accounts buy; each has its own stream.")
    var accounts = 256

    @Option(help: "How many purchases are in flight at once.")
    var inFlight = 2048

    @Option(help: "How many connections to open to payments, and as many to fulfillment.")
    var connections = 128

    @Option(
        help: "How many accepted payments to drain (default: --purchases, at most 20000)."
    )
    var backlog: Int?

    @Option(help: "For how many seconds to start purchases at a fifth of the measured rate.")
    var openSeconds = 20

    @Option(help: "For how many seconds to measure the store while nobody buys; 0 for not at all.")
    var idleSeconds = 60

    @Option(help: "How many generic purchases the yardstick commits, each time it is measured.")
    var yardstickPurchases = 30_000

    @Option(help: "The sizes of the books to measure at, such as 10000,1000000, or 'none'.")
    var growth = "10000,100000,1000000"

    @Option(help: "How many purchases to make at each size.")
    var growthPurchases = 10_000

    @Option(help: "How many subscriptions to renew at once; 0 for none.")
    var subscriptions = 0

    @Option(
        help: """
            How many subscriptions to buy in each of three ways: at the ordinary price, with a \
            promotional offer, and with a code; 0 for none.
            """
    )
    var offers = 0

    @Option(
        help: """
            How many subscriptions to write into the table and tell of a higher price, beside up to \
            5000 that are bought; 0 for none.
            """
    )
    var raise = 0

    @Option(
        help: "Save the result in deploy/benchmarks, named by date and this machine's name."
    )
    var record: String?

    @Flag(help: "Measure nothing; only redraw the chart of the results in deploy/benchmarks.")
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
            yardstickPurchases, idleSeconds + 1, subscriptions + 1, offers + 1, raise + 1,
        ]
        guard numbers.allSatisfy({ $0 > 0 }), sizes != nil else {
            throw ValidationError("All numbers must be positive.")
        }
        let isName = record?.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        guard isName ?? true else {
            throw ValidationError("A machine's name may contain only letters, digits and hyphens.")
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
            // By default, as many payments as may wait in memory.
            backlog: backlog ?? min(purchases, 20_000),
            openSeconds: openSeconds,
            idleSeconds: idleSeconds,
            yardstickPurchases: yardstickPurchases,
            growth: sizes ?? [],
            growthPurchases: growthPurchases,
            subscriptions: subscriptions,
            offers: offers,
            raise: raise
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

import Foundation
import StoreHarness

/// The results of one benchmark.
struct BenchReport: Sendable {
    let closed: BenchResult
    let drained: BenchResult
    let open: BenchResult
    /// The number of purchases started per second in the open loop.
    let openRate: Int
    let ping: BenchPing
    let yardstick: Yardstick
    /// The bytes that the purchases over HTTP have added to the databases.
    let kept: KeptBytes
    /// The cost of the store while nobody buys; `nil` if it was not measured.
    let idle: BenchIdle?
    /// The same with the waits for the broker that services have by default.
    var unhurriedIdle: BenchIdle?
    /// The purchases per second that the same SQL reaches alone.
    let ceiling: Double
    /// The same for the SQL of a drain.
    let drainCeiling: Double
    let comparison: WrittenComparison
    let sizes: (http: BatchSizes, drain: BatchSizes)
    let growth: [BenchGrowth.Step]
    /// The renewals of subscriptions; `nil` if they were not measured.
    var subscriptions: BenchSubscriptions.Result?
    /// The purchases with offers; `nil` if they were not measured.
    var offers: BenchOffers.Result?
    /// The telling of a raise; `nil` if it was not measured.
    var raise: BenchRaise.Result?
    let audit: AuditReport

    /// The rate over HTTP, divided by the yardstick's.
    var httpToYardstick: Double { yardstick.ratio(of: closed.rate) }
    /// The rate of a drain, divided by the yardstick's.
    var drainedToYardstick: Double { yardstick.ratio(of: drained.rate) }
    /// The rate of renewals, divided by that of purchases in the drain.
    var renewedToDrained: Double? { subscriptions.map { $0.rate / drained.rate } }
    /// The ratio of the rate over HTTP to the ceiling of whole purchases.
    var ratioOverHTTP: Double { closed.rate / ceiling }
    /// The ratio of the draining rate to the ceiling of a drain.
    var ratioToCeiling: Double { drained.rate / drainCeiling }
    /// The ratio of the p99 to purchased at a fifth of the rate, minus one commit, to the broker's
    /// ping-pong.
    var ratioToBroker: Double { ping.ratio(of: open.latencies { $0.purchased }.p99) }
    /// The latency to delivered at a fifth of the rate, divided by the broker's ping-pong.
    var deliveredRatios: (p50: Double, p99: Double) {
        let delivered = open.latencies { $0.delivered }
        return (delivered.p50 / ping.pingPong.p50, delivered.p99 / ping.pingPong.p99)
    }

    /// The bytes kept of a purchase by the services.
    var keptBytes: Double { Double(kept.services) / Double(comparison.runPurchases) }
    /// The bytes kept of a purchase by the sandbox processor.
    var sandboxKeptBytes: Double { Double(kept.sandbox) / Double(comparison.runPurchases) }
    /// The events of a purchase.
    var events: Double { written(in: "outbox") }
    /// The updates of places of consumers in a purchase; many purchases share one.
    var placeRows: Double { written(in: "consumer_places") }

    /// The largest memory of a service at any time, in bytes.
    var memoryMax: Int { memory.map(\.largest).max() ?? 0 }
    /// The memory of each service in bytes: the largest at any time, and after the load over HTTP.
    var memory: [(service: String, largest: Int, afterLoad: Int)] {
        StoreService.allCases.map(\.rawValue).map { service in
            let usages = [closed, drained, open].map { result in
                result.costs.first { $0.name == service }?.usage
            }
            return (
                service, usages.map { $0?.residentBytesMax ?? 0 }.max() ?? 0,
                usages[0]?.residentBytes ?? 0
            )
        }
    }

    private func written(in table: String) -> Double {
        Double(comparison.run.total(of: table)) / Double(comparison.runPurchases)
    }
}

extension Terminal {
    /// Shows a report.
    func show(_ report: BenchReport) {
        heading("Result")
        func rate(_ rate: Double) -> String { Terminal.describe(Int(rate)) }
        func ratio(_ ratio: Double) -> String { String(format: "%.3f", ratio) }
        table(
            [["", "purchases/s", "to the yardstick", "ceiling/s", "to the ceiling"]] + [
                [
                    "over HTTP", rate(report.closed.rate), ratio(report.httpToYardstick),
                    rate(report.ceiling), ratio(report.ratioOverHTTP),
                ],
                [
                    "draining", rate(report.drained.rate), ratio(report.drainedToYardstick),
                    rate(report.drainCeiling), ratio(report.ratioToCeiling),
                ],
            ],
            rightAligned: [1, 2, 3, 4]
        )
        let yardstick = report.yardstick
        line(
            "  The yardstick: \(rate(yardstick.rate)) purchases/s "
                + "(\(rate(yardstick.before)) before, \(rate(yardstick.after)) after)",
            .dim
        )
        line()
        line("  As fast as possible", .dim)
        table(of: report.closed.latencies)
        line()
        line("  A fifth of that rate: \(Terminal.describe(report.openRate)) purchases/s", .dim)
        table(of: report.open.latencies + report.ping.rows)
        line()
        showCosts(of: report.closed)
        line()
        showKept(report)
        if !report.growth.isEmpty {
            line()
            table(
                [["purchases in the books", "purchases/s", "CPU µs/purchase"]]
                    + report.growth.map { step in
                        [
                            Terminal.describe(step.size), rate(step.result.rate),
                            rate(step.result.cost),
                        ]
                    },
                rightAligned: [0, 1, 2]
            )
        }
        if let ratio = report.renewedToDrained {
            field("renewals", String(format: "%.2f of the draining rate", ratio))
        }
        // Goals are reported and not enforced: a shared machine may miss them for other reasons.
        _ = judge(BenchGoals.goals(of: report))
        line()
    }

    /// Shows the cost of a store that nobody uses.
    func show(_ idle: BenchIdle) {
        table(
            [["process", "CPU s", "% of a core"]]
                + idle.costs.map { cost in
                    [
                        cost.name, String(format: "%.2f", cost.cpuSeconds),
                        String(format: "%.2f", idle.percent(of: cost)),
                    ]
                } + [["services and postgresql", "", String(format: "%.2f", idle.percent)]],
            rightAligned: [1, 2]
        )
    }

    /// Shows the renewals of subscriptions.
    func show(_ result: BenchSubscriptions.Result) {
        field(
            "memory",
            "\(result.memory.before >> 20) MB of payments before, then "
                + "\(result.memory.max >> 20) MB at most"
        )
        line("  Purchases just before them", .dim)
        table(of: result.without.latencies)
        line("  Purchases beside them", .dim)
        show(result.besideBuyers, of: result.count)
        table(of: result.beside.latencies)
        let (first, later) = result.latencyBesideByTime
        line("  Asked → purchased of those who came", .dim)
        table(of: [("in the first two seconds", first), ("later", later)])
        line("  By stage, just before renewals", .dim)
        table(of: result.without.stages)
        line("  By stage, beside renewals", .dim)
        table(of: result.beside.stages)
    }

    /// Shows how long it took to renew subscriptions.
    func show(_ renewal: BenchSubscriptions.Renewal, of count: Int) {
        field("charged", "in \(Terminal.describe(.seconds(renewal.charged)))")
        field("delivered", "in \(Terminal.describe(.seconds(renewal.delivered)))")
        let rate = Int(Double(count) / renewal.delivered)
        field("rate", "\(Terminal.describe(rate)) renewals/s", .bold)
    }

    /// Shows what renewals cost the store, process by process.
    func showCost(of renewal: BenchSubscriptions.Renewal, of count: Int) {
        func text(_ number: Double) -> String { String(format: "%.0f", number) }
        let processes = renewal.costsOfStore.map { cost in
            "\(cost.name) \(text(cost.microseconds(perEachOf: count)))"
        }
        field("cost", "\(text(renewal.microseconds(perEachOf: count))) µs a renewal")
        line("  " + processes.joined(separator: ", "), .dim)
        field("busy", String(format: "%.2f cores", renewal.busyCores))
        let kilobytes = Double(renewal.walBytes) / Double(count) / 1000
        let pages = Double(renewal.walFullPages) / Double(count)
        field(
            "log",
            String(
                format: "%.1f KB of write-ahead log a renewal, with %.2f whole pages",
                kilobytes,
                pages
            )
        )
    }

    private func showKept(_ report: BenchReport) {
        func text(_ number: Double, _ digits: Int) -> String {
            String(format: "%.\(digits)f", number)
        }
        let (rows, bytes) = report.comparison.totals
        table(
            [["of a purchase over HTTP", ""]] + [
                ["events", text(report.events, 2)],
                ["rows of places", text(report.placeRows, 2)],
                ["rows written", text(rows.run, 2)],
                ["bytes of WAL", text(bytes.run, 0)],
                ["bytes kept", text(report.keptBytes, 0)],
                ["bytes kept by the sandbox", text(report.sandboxKeptBytes, 0)],
            ],
            rightAligned: [1]
        )
    }
}

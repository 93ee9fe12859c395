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
    /// The purchases per second that the same SQL reaches alone.
    let ceiling: Double
    /// The same for the SQL of a drain.
    let drainCeiling: Double
    let comparison: WrittenComparison
    let sizes: (http: BatchSizes, drain: BatchSizes)
    let growth: [BenchGrowth.Step]
    let audit: AuditReport

    /// The ratio of the rate over HTTP to the ceiling of whole purchases.
    var ratioOverHTTP: Double { closed.rate / ceiling }
    /// The ratio of the draining rate to the ceiling of a drain.
    var ratioToCeiling: Double { drained.rate / drainCeiling }
    /// The ratio of the p99 to purchased at a fifth of the rate, minus one commit, to the broker's
    /// ping-pong.
    var ratioToBroker: Double { ping.ratio(of: open.latencies { $0.purchased }.p99) }
    /// The largest memory of a service at any time, in bytes.
    var memoryMax: Int {
        let services = Set(StoreService.allCases.map(\.rawValue))
        return [closed, drained, open].flatMap(\.costs).filter { services.contains($0.name) }
            .map(\.usage.residentBytesMax).max() ?? 0
    }

    /// The goals of the benchmark.
    var goals: [Goal] {
        var goals = [
            Goal("to the ceiling, draining", ratioToCeiling, atLeast: 0.35),
            Goal("to the ceiling, over HTTP", ratioOverHTTP, atLeast: 0.25),
            Goal("p99 to purchased, to the broker's ping-pong", ratioToBroker, 3.0),
            Goal("MB of memory of a service", Double(memoryMax) / 1_048_576, 100),
        ]
        if let ratio = BenchGrowth.ratio(growth) {
            goals.append(Goal("cost at the largest size, to the smallest", ratio, 1.2))
        }
        return goals
    }
}

extension Terminal {
    /// Shows a report.
    func show(_ report: BenchReport) {
        heading("Result")
        func rate(_ rate: Double) -> String { Terminal.describe(Int(rate)) }
        func ratio(_ ratio: Double) -> String { String(format: "%.2f", ratio) }
        table(
            [["", "purchases/s", "ceiling/s", "ratio"]] + [
                [
                    "over HTTP", rate(report.closed.rate), rate(report.ceiling),
                    ratio(report.ratioOverHTTP),
                ],
                [
                    "draining", rate(report.drained.rate), rate(report.drainCeiling),
                    ratio(report.ratioToCeiling),
                ],
            ],
            rightAligned: [1, 2, 3]
        )
        line()
        line("  As fast as possible", .dim)
        table(of: report.closed.latencies)
        line()
        line("  A fifth of that rate: \(Terminal.describe(report.openRate)) purchases/s", .dim)
        table(of: report.open.latencies + report.ping.rows)
        line()
        showCosts(of: report.closed)
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
        // Goals are reported and not enforced: a shared machine may miss them for other reasons.
        _ = judge(report.goals)
        line()
    }
}

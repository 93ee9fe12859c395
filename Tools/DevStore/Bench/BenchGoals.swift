/// The goals of the benchmark: the one place that holds their limits.
enum BenchGoals {
    /// Compares a report with all goals that it has numbers for.
    static func goals(of report: BenchReport) -> [Goal] {
        let written = report.comparison.totals
        var goals = [
            Goal("over HTTP, to the yardstick", report.httpToYardstick, atLeast: 0.16),
            Goal("draining, to the yardstick", report.drainedToYardstick, atLeast: 0.25),
            Goal("µs of processor time of a purchase over HTTP", report.closed.cost, 550),
            Goal("rows written for a purchase", written.rows.run, 18.0),
            Goal("KB kept of a purchase", report.keptBytes / 1000, 6.0),
            Goal("KB of write-ahead log of a purchase", written.bytes.run / 1000, 7.0),
            Goal("p50 to delivered, to the broker's ping-pong", report.deliveredRatios.p50, 4.0),
            Goal("p99 to delivered, to the broker's ping-pong", report.deliveredRatios.p99, 5.0),
            Goal("p99 to purchased, to the broker's ping-pong", report.ratioToBroker, 3.0),
            Goal("MB of memory of the largest service", Double(report.memoryMax) / 1_048_576, 80),
        ]
        if let ratio = BenchGrowth.ratio(report.growth) {
            goals.append(Goal("cost at the largest size, to the smallest", ratio, 1.1))
        }
        if let ratio = report.renewedToDrained {
            goals.append(Goal("renewals, to draining purchases", ratio, atLeast: 0.8))
        }
        if let subscriptions = report.subscriptions {
            goals.append(Goal("s to renew one for a year", subscriptions.year, 2))
            let memory = subscriptions.memory
            let growth = Double(memory.max) / Double(max(memory.before, 1))
            goals.append(Goal("memory of payments during renewals, to before", growth, 1.5))
            goals.append(
                Goal("look-ups a second of idle subscriptions", subscriptions.idle.lookUps, 1.5)
            )
            if let idle = report.idle {
                let more = subscriptions.idle.percent - idle.percent
                goals.append(Goal("percent of a core for idle subscriptions", more, 1.0))
            }
        }
        if let ratios = report.subscriptions?.latencyRatios {
            goals.append(Goal("p50 to purchased beside renewals, to without", ratios.p50, 2))
            goals.append(Goal("p99 to purchased beside renewals, to without", ratios.p99, 2))
        }
        if let offers = report.offers { goals += Self.goals(of: offers) }
        if let raise = report.raise { goals += Self.goals(of: raise) }
        if let idle = report.idle {
            goals.append(Goal("percent of a core while nobody buys", idle.percent, 1.0))
        }
        return goals
    }

    /// Compares purchases with offers with all goals for them.
    static func goals(of offers: BenchOffers.Result) -> [Goal] {
        let (signed, code) = (offers.promotional, offers.code)
        return [
            Goal("cost with a promotional offer, to without", offers.costRatio(of: signed), 1.1),
            Goal("cost with a code, to without", offers.costRatio(of: code), 1.1),
        ]
    }

    /// Compares a raise with all goals for it.
    static func goals(of raise: BenchRaise.Result) -> [Goal] {
        [
            Goal("s of the longest database transaction of a raise", raise.longestTransaction, 1.0),
            Goal("renewals beside a raise, to without", raise.ratio, atLeast: 0.8),
        ]
    }
}

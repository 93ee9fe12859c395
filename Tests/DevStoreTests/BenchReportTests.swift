import Foundation
import Testing

@testable import StoreHarness
@testable import devstore

@Suite struct BenchReportTests {
    /// Purchases whose steps come after whole milliseconds, at 100 purchases a second.
    private func result(
        purchases: Int = 100,
        seconds: Double = 1,
        deliveredAfter: UInt64 = 40,
        cpuSeconds: [String: Double] = [:],
        megabytes: Int = 10,
        times: [BenchDriver.Times]? = nil
    ) throws -> BenchResult {
        let millisecond: UInt64 = 1_000_000
        var usage = try #require(ProcessUsage(of: getpid()))
        usage.residentBytes = megabytes << 20
        usage.residentBytesMax = (megabytes + 5) << 20
        return BenchResult(
            purchases: purchases,
            seconds: seconds,
            times: times
                ?? Array(
                    repeating: BenchDriver.Times(
                        asked: 0,
                        answered: 5 * millisecond,
                        purchased: 21 * millisecond,
                        delivered: deliveredAfter * millisecond,
                        finished: 50 * millisecond
                    ),
                    count: purchases
                ),
            accepted: [],
            retries: 0,
            costs: cpuSeconds.map {
                ProcessCost(name: $0.key, usage: usage, cpuSeconds: $0.value)
            }
        )
    }

    private func report(idle: BenchIdle? = nil, growth: [Double] = []) throws -> BenchReport {
        let cost = [
            "payments": 0.01, "postgresql": 0.02, "broker": 0.005, ProcessCost.load: 9.0,
            ProcessCost.endedPostgreSQL: 7.0,
        ]
        return BenchReport(
            closed: try result(cpuSeconds: cost),
            drained: try result(seconds: 0.5, cpuSeconds: cost, megabytes: 70),
            open: try result(cpuSeconds: cost),
            openRate: 20,
            ping: BenchPing(
                pingPong: Latencies(milliseconds: [10]),
                wholeWay: Latencies(milliseconds: [15]),
                commit: Latencies(milliseconds: [1])
            ),
            yardstick: Yardstick(before: 900, after: 1100),
            kept: KeptBytes(services: 600_000, sandbox: 10_000),
            idle: idle,
            ceiling: 400,
            drainCeiling: 500,
            comparison: WrittenComparison(
                run: WrittenRows(
                    rows: [
                        "payments.outbox": 200, "receipts.outbox": 100,
                        "payments.consumer_places": 100,
                        "payments.transactions": 100,
                    ],
                    walBytes: 700_000
                ),
                runPurchases: 100,
                ceiling: WrittenRows(rows: ["payments.outbox": 1000], walBytes: 1),
                ceilingPurchases: 100
            ),
            sizes: (.largest, .largest),
            growth: try growth.enumerated().map { index, seconds in
                BenchGrowth.Step(
                    size: index * 1000,
                    result: try result(cpuSeconds: ["payments": seconds])
                )
            },
            audit: AuditReport()
        )
    }

    @Test func ratesAreDividedByTheMeanOfBothYardsticks() throws {
        let report = try report()
        #expect(report.httpToYardstick == 0.1)
        #expect(report.drainedToYardstick == 0.2)
        #expect(report.ratioOverHTTP == 0.25 && report.ratioToCeiling == 0.4)
    }

    @Test func aPurchaseCostsWhatItsProcessesCostWithoutTheLoad() throws {
        let report = try report()
        #expect(report.closed.cost.rounded() == 350)
        #expect(report.keptBytes == 6000 && report.sandboxKeptBytes == 100)
        #expect(report.events == 3 && report.placeRows == 1)
        #expect(report.comparison.totals.rows.run == 5)
    }

    @Test func aCeilingThatLeavesOutWorkOfAPurchaseIsNone() {
        func rows(_ counts: [String: Int64]) -> WrittenRows {
            WrittenRows(rows: counts, walBytes: 1)
        }
        func shortcomings(_ ceiling: [String: Int64]) -> [String] {
            WrittenComparison(
                run: rows([
                    "payments.outbox": 209, "payments.relay_chains": 101, "payments.charges": 100,
                    "payments.leads": 1,
                ]),
                runPurchases: 100,
                ceiling: rows(ceiling),
                ceilingPurchases: 100
            ).shortcomings
        }
        #expect(
            shortcomings([
                "payments.outbox": 200, "payments.relay_chains": 64, "payments.charges": 100,
            ]) == [],
            "Rows of a batch are fewer in larger batches."
        )
        #expect(
            shortcomings(["payments.outbox": 100, "payments.charges": 100]) == [
                "payments.outbox is written less by the ceiling",
                "payments.relay_chains is written by a purchase, and not by the ceiling",
            ]
        )
    }

    @Test func latenciesAreDividedByTheBrokersPingPong() throws {
        let report = try report()
        #expect(report.deliveredRatios.p50 == 4 && report.deliveredRatios.p99 == 4)
        #expect(report.ratioToBroker == 2, "One commit is taken off.")
    }

    @Test func theLargestServiceCountsInAllLoads() throws {
        let report = try report()
        #expect(report.memoryMax == 75 << 20)
        let payments = try #require(report.memory.first { $0.service == "payments" })
        #expect(payments.largest == 75 << 20 && payments.afterLoad == 10 << 20)
    }

    @Test func anIdleStoreIsItsServicesAndPostgreSQL() throws {
        let usage = try #require(ProcessUsage(of: getpid()))
        let costs = [
            ("payments", 0.2), ("postgresql", 0.1), ("broker", 5), ("this load", 7),
            ("postgresql, ended", 0.1),
        ]
        let idle = BenchIdle(
            seconds: 60,
            costs: costs.map { ProcessCost(name: $0.0, usage: usage, cpuSeconds: $0.1) }
        )
        #expect((idle.percent * 100).rounded() == 67)
    }

    @Test func everyGoalHasAVerdict() throws {
        let usage = try #require(ProcessUsage(of: getpid()))
        let idle = BenchIdle(
            seconds: 1,
            costs: [ProcessCost(name: "catalog", usage: usage, cpuSeconds: 0.02)]
        )
        let goals = BenchGoals.goals(of: try report(idle: idle, growth: [0.1, 0.12]))
        let missed = goals.filter { !$0.isMet }.map(\.name)
        #expect(goals.count == 12)
        #expect(
            missed == [
                "over HTTP, to the yardstick", "draining, to the yardstick",
                "cost at the largest size, to the smallest", "percent of a core while nobody buys",
            ]
        )
        #expect(BenchGoals.goals(of: try report()).count == 10, "What is not measured has no goal.")
    }

    @Test func theRecordNamesEachNumberThatItsPageExplains() throws {
        let numbers = try report().numbers
        let page = try String(
            contentsOf: SourceTree.root.appendingPathComponent("deploy/benchmarks/README.md"),
            encoding: .utf8
        )
        for name in numbers.keys.sorted() {
            #expect(page.contains("`\(name)`"), "deploy/benchmarks/README.md does not explain it.")
        }
        #expect(numbers["http_to_yardstick"] as? Double == 0.1)
        #expect(numbers["idle_percent"] is NSNull && numbers["growth_ratio"] is NSNull)
        #expect(numbers["idle_unhurried_percent"] is NSNull)
        #expect(JSONSerialization.isValidJSONObject(numbers))
    }

    private func renewals(
        seconds: Double = 1,
        year: Double = 1,
        megabytes: Int = 10,
        lookUps: Double = 1,
        percent: Double = 1
    ) throws -> BenchSubscriptions.Result {
        let renewal = BenchSubscriptions.Renewal(charged: seconds, delivered: seconds)
        return BenchSubscriptions.Result(
            count: 100,
            alone: renewal,
            besideBuyers: renewal,
            year: year,
            idle: BenchSubscriptions.Idle(
                count: 1000,
                lookUps: lookUps,
                rowsRead: 0,
                percent: percent
            ),
            without: try result(),
            beside: try result(),
            memory: (before: 10 << 20, max: megabytes << 20),
            audit: AuditReport()
        )
    }

    @Test func thePageExplainsTheNumbersOfRenewals() throws {
        var report = try report()
        report.subscriptions = try renewals()
        let numbers = report.numbers
        let page = try String(
            contentsOf: SourceTree.root.appendingPathComponent("deploy/benchmarks/README.md"),
            encoding: .utf8
        )
        for name in numbers.keys.sorted() { #expect(page.contains("`\(name)`"), "\(name)") }
        #expect(JSONSerialization.isValidJSONObject(numbers))
        #expect(numbers["latency_p99_ratio_beside_renewals"] as? Double == 1)
    }

    @Test func renewalsHaveGoalsOfTheirOwn() throws {
        let usage = try #require(ProcessUsage(of: getpid()))
        let idle = BenchIdle(
            seconds: 1,
            costs: [ProcessCost(name: "catalog", usage: usage, cpuSeconds: 0.02)]
        )
        let known = BenchGoals.goals(of: try report(idle: idle)).map(\.name)
        func goals(_ renewals: BenchSubscriptions.Result) throws -> [Goal] {
            var report = try report(idle: idle)
            report.subscriptions = renewals
            return BenchGoals.goals(of: report).filter { !known.contains($0.name) }
        }
        let met = try goals(
            renewals(seconds: 0.6, year: 1.5, megabytes: 14, lookUps: 1.1, percent: 2.5)
        )
        #expect(met.count == 7 && met.allSatisfy(\.isMet))
        let missed = try goals(
            renewals(seconds: 0.7, year: 2.5, megabytes: 16, lookUps: 2, percent: 3.5)
        )
        #expect(
            missed.filter { !$0.isMet }.map(\.name) == [
                "renewals, to draining purchases", "s to renew one for a year",
                "memory of payments during renewals, to before",
                "look-ups a second of idle subscriptions",
                "percent of a core for idle subscriptions",
            ]
        )
    }

    @Test func theWayOfAPurchaseIsDividedByItsCommits() throws {
        let millisecond: UInt64 = 1_000_000
        let times = [
            BenchDriver.Times(
                asked: 100 * millisecond,
                answered: 112 * millisecond,
                accepted: 110 * millisecond,
                charged: 115 * millisecond,
                purchased: 121 * millisecond,
                published: 130 * millisecond,
                signed: 129 * millisecond
            ),
            BenchDriver.Times(asked: 2_100 * millisecond, purchased: 2_150 * millisecond),
        ]
        let result = try result(times: times)
        let stages = Dictionary(uniqueKeysWithValues: result.stages.map { ($0.name, $0.latencies) })
        #expect(stages["asked → accepted"]?.p50 == 10, "what is not known is left out")
        #expect(stages["charged → purchased"]?.p50 == 6)
        #expect(stages["published → signed"]?.p50 == 0, "the consumer was faster than the relay")
        #expect(stages["queued → delivered"]?.p50 == 0)
        #expect(result.latencies(ofSeconds: 0..<2).quantile(1) == 21)
        #expect(result.latencies(ofSeconds: 2..<Double.infinity).quantile(0) == 50)
    }

    @Test func theCostOfARenewalLeavesTheLoadOut() throws {
        let usage = try #require(ProcessUsage(of: getpid()))
        let renewal = BenchSubscriptions.Renewal(
            charged: 0.5,
            delivered: 2,
            costs: [
                ProcessCost(name: "payments", usage: usage, cpuSeconds: 1),
                ProcessCost(name: ProcessCost.postgresql, usage: usage, cpuSeconds: 2),
                ProcessCost(name: ProcessCost.load, usage: usage, cpuSeconds: 1),
            ],
            walBytes: 9000
        )
        #expect(renewal.microseconds(perEachOf: 1000) == 3000)
        #expect(renewal.busyCores == 2, "the load keeps a core busy, too")
    }

    @Test func theRatioOfOffersIsKnownOfEachRound() throws {
        var (ordinary, promotional) = (BenchOffers.Tally(), BenchOffers.Tally())
        for (less, more) in [(1.0, 1.2), (2.0, 2.2), (1.0, 1.3)] {
            for (seconds, isOrdinary) in [(less, true), (more, false)] {
                let round = BenchOffers.Tally(
                    purchases: 100,
                    seconds: 1,
                    processorSeconds: ["payments": seconds]
                )
                if isOrdinary { ordinary.add(round) } else { promotional.add(round) }
            }
        }
        let result = BenchOffers.Result(
            ordinary: ordinary,
            promotional: promotional,
            code: BenchOffers.Tally()
        )
        let ratios = try #require(result.costRatios(of: promotional))
        #expect(abs(ratios.lowerBound - 1.1) < 0.001 && abs(ratios.upperBound - 1.3) < 0.001)
        #expect(result.costRatios(of: result.code) == nil)
        #expect(abs(result.costRatio(of: promotional) - 1.2) < 0.001, "the median")
    }

    @Test func eachKindOfOfferComesEquallyOftenAfterEachOther() {
        let kinds = BenchOffers.Kind.allCases
        var (places, pairs) = ([[BenchOffers.Kind]](), [[BenchOffers.Kind]: Int]())
        for place in kinds.indices { places.append(BenchOffers.orders.map { $0[place] }) }
        for order in BenchOffers.orders {
            for (before, after) in zip(order, order.dropFirst()) {
                pairs[[before, after], default: 0] += 1
            }
        }
        for kind in kinds {
            #expect(places.allSatisfy { place in place.filter { $0 == kind }.count == 2 })
            for other in kinds where other != kind { #expect(pairs[[kind, other]] == 2) }
        }
    }

    @Test func offersAndARaiseHaveGoalsAndNumbersOfTheirOwn() throws {
        func tally(_ payments: Double) -> BenchOffers.Tally {
            BenchOffers.Tally(purchases: 100, seconds: 1, processorSeconds: ["payments": payments])
        }
        var report = try report()
        let known = BenchGoals.goals(of: report).map(\.name)
        report.offers = BenchOffers.Result(
            ordinary: tally(0.1),
            promotional: tally(0.105),
            code: tally(0.12)
        )
        report.raise = BenchRaise.Result(
            told: 1000,
            seconds: 2,
            longest: BenchRaise.OpenTransaction(seconds: 0.4, owner: "payments active: SELECT 1"),
            renewed: 100,
            alone: 1,
            beside: 1.6
        )
        let goals = BenchGoals.goals(of: report).filter { !known.contains($0.name) }
        #expect(
            goals.filter { !$0.isMet }.map(\.name) == [
                "cost with a code, to without", "renewals beside a raise, to without",
            ]
        )
        #expect(goals.count == 4)
        let numbers = report.numbers
        #expect(numbers["code_cost_ratio"] as? Double == 1.2)
        #expect(numbers["raised_per_second"] as? Double == 500)
        let page = try String(
            contentsOf: SourceTree.root.appendingPathComponent("deploy/benchmarks/README.md"),
            encoding: .utf8
        )
        for name in numbers.keys.sorted() { #expect(page.contains("`\(name)`"), "\(name)") }
        #expect(JSONSerialization.isValidJSONObject(numbers))
    }

    @Test func aRowOfTheTableHasACellForEachColumn() throws {
        let page = try String(
            contentsOf: SourceTree.root.appendingPathComponent("deploy/benchmarks/README.md"),
            encoding: .utf8
        )
        let header = try #require(page.split(separator: "\n").first { $0.hasPrefix("| record |") })
        let row = try report().row(named: "2026-01-01-here")
        #expect(row.filter { $0 == "|" }.count == header.filter { $0 == "|" }.count)
        #expect(row.contains("| 0.100 | 0.200 | 350 | 5.0 | 6.0 | 7.0 |"))
    }

    @Test func theYardstickIsReadFromTheLastLine() throws {
        let output = "a notice\n{\"yardstick_purchases_per_second\": 21034, \"purchases\": 30000}\n"
        #expect(try Yardstick.rate(in: output) == 21034)
        for bad in ["", "psql: error", "{\"yardstick_purchases_per_second\": 0}"] {
            #expect(throws: HarnessError.self) { try Yardstick.rate(in: bad) }
        }
    }
}

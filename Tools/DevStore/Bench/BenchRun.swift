import EventTypes
import Foundation
import Postgres
import StoreHarness

/// One benchmark: the loads, their audit, the ceiling they are compared with, and the growth.
struct BenchRun: Sendable {
    /// The sizes of the measurements.
    struct Plan: Sendable {
        var load: BenchDriver.Load
        /// The number of accepted payments to drain.
        var backlog: Int
        /// For how many seconds purchases are started at a fifth of the rate.
        var openSeconds: Int
        /// For how many seconds the store is measured while nobody uses it; 0 leaves that out.
        var idleSeconds: Int
        /// The number of generic purchases of the yardstick.
        var yardstickPurchases: Int
        /// The sizes to which the books grow.
        var growth: [Int]
        /// The number of purchases at each size.
        var growthPurchases: Int
        /// The number of subscriptions that are renewed at once; 0 leaves that out.
        var subscriptions = 0
        /// The number of purchases with each kind of offer; 0 leaves that out.
        var offers = 0
        /// The number of subscriptions that are told of a raise; 0 leaves that out.
        var raise = 0
    }

    let terminal: Terminal
    let store: StoreHarness
    let plan: Plan

    private var load: BenchLoad { BenchLoad(terminal: terminal, store: store) }

    /// Runs it to its end.
    ///
    /// - Returns: All measurements.
    /// - Throws: ``HarnessError`` if the audit finds something, or the ceiling does less than a run.
    func run() async throws -> BenchReport {
        await store.stopServices()
        let yardstickBefore = try await yardstick()
        terminal.heading("Over HTTP, as fast as possible (closed loop)")
        let keptBefore = try await KeptBytes(in: store)
        let begun = try await WrittenRows.afterSessions(of: store)
        let httpMark = try await BatchSizes.mark(store)
        try await store.heal()
        let warmUp = try await load.warmUp(for: plan.load)
        let closed = try await load.drive(plan.load)
        try await store.settle()
        terminal.show(closed)
        await store.stopServices()
        let written = try await WrittenRows.afterSessions(of: store) - begun
        let kept = try await KeptBytes(in: store) - keptBefore
        let httpSizes = try await BatchSizes(in: store, since: httpMark)

        terminal.heading("Draining a backlog of accepted payments")
        let drained = try await BenchDrain(
            load: load,
            purchases: plan.backlog,
            accounts: plan.load.accounts,
            connections: plan.load.connections
        ).run()
        terminal.show(drained.result)
        try await store.heal()
        try await store.settle()
        // Payments were accepted before the drain, so these batches do not count.
        let drainSizes = try await BatchSizes(in: store, since: drained.mark)
            .completed(by: httpSizes)

        let open = try await openLoop(after: closed)
        let audit = try await audit(
            warmUp + [closed, drained.result, open.result].flatMap(\.accepted)
        )
        let idle = try await idle()
        await store.stopServices()
        let yardstick = Yardstick(before: yardstickBefore, after: try await yardstick())

        let ceilings = try await ceilings(
            (httpSizes, drainSizes),
            (written, warmUp.count + closed.purchases)
        )
        return BenchReport(
            closed: closed,
            drained: drained.result,
            open: open.result,
            openRate: open.rate,
            ping: open.ping,
            yardstick: yardstick,
            kept: kept,
            idle: idle,
            unhurriedIdle: try await unhurriedIdle(),
            ceiling: ceilings.whole,
            drainCeiling: ceilings.drain,
            comparison: ceilings.comparison,
            sizes: (httpSizes, drainSizes),
            growth: try await growth(),
            subscriptions: try await subscriptions(beside: open.rate),
            offers: try await offers(),
            raise: try await raised(),
            audit: audit
        )
    }

    /// Measures what pgbench alone reaches, in purchases per second, and compares what it writes.
    ///
    /// - Throws: ``HarnessError`` if a ceiling does less than a run.
    private func ceilings(
        _ sizes: (http: BatchSizes, drain: BatchSizes),
        _ written: (rows: WrittenRows, purchases: Int)
    ) async throws -> (whole: Double, drain: Double, comparison: WrittenComparison) {
        terminal.heading("The ceiling: the same SQL in the same batches, run by pgbench alone")
        terminal.show(sizes.http, sizes.drain)
        let accounts = plan.load.accounts
        var http = try await Ceiling.create("ceiling", in: store, accounts: accounts)
        let (whole, comparison) = try await wholeCeiling(&http, sizes.http, written)
        var drain = try await Ceiling.create("backlog", in: store, accounts: accounts)
        let drainRate = try await drainCeiling(&drain, sizes.drain)
        terminal.show(comparison)
        guard comparison.shortcomings.isEmpty else {
            throw HarnessError(
                "This is no ceiling: \(comparison.shortcomings.joined(separator: "; "))."
            )
        }
        return (whole, drainRate, comparison)
    }

    private func yardstick() async throws -> Double {
        terminal.heading("The yardstick: generic purchases by PostgreSQL alone")
        let rate = try await Yardstick.measure(purchases: plan.yardstickPurchases)
        terminal.field("rate", "\(Terminal.describe(Int(rate))) purchases/s", .bold)
        return rate
    }

    // MARK: - Loads

    /// Starts purchases at a fifth of the measured rate, however long each takes.
    private func openLoop(
        after closed: BenchResult
    ) async throws -> (result: BenchResult, rate: Int, ping: BenchPing) {
        let rate = max(1, Int(closed.rate / 5))
        terminal.heading("A fifth of that rate: \(Terminal.describe(rate)) purchases/s (open loop)")
        let ping = try await BenchPing.measure(store, count: min(500, plan.load.purchases))
        var load = plan.load
        load.purchases = min(plan.load.purchases, max(100, rate * plan.openSeconds))
        load.rate = rate
        let first = try await self.load.warmUp(for: load)
        let mark = try await BatchSizes.mark(store)
        var result = try await self.load.drive(load)
        terminal.table(of: result.latencies + ping.rows)
        terminal.table(of: result.stages)
        try await store.settle()
        terminal.show(try await BatchSizes(in: store, since: mark))
        result.accepted += first
        return (result, rate, ping)
    }

    private func audit(_ accepted: [AcceptedPayment]) async throws -> AuditReport {
        terminal.heading("Audit")
        let report = try await Auditor(store).audit(accepted: accepted)
        terminal.show(report)
        guard report.isClean else {
            throw HarnessError("The guarantee is broken: \(report.verdict).")
        }
        return report
    }

    private func idle() async throws -> BenchIdle? {
        guard plan.idleSeconds > 0 else { return nil }
        terminal.heading("Idle: \(plan.idleSeconds) s while nobody buys")
        let idle = try await BenchIdle.measure(store, seconds: plan.idleSeconds)
        terminal.show(idle)
        return idle
    }

    /// Measures a separate store whose services ask the broker no more often than in production.
    private func unhurriedIdle() async throws -> BenchIdle? {
        guard plan.idleSeconds > 0 else { return nil }
        terminal.heading("Idle: the same with the services' own waits for the broker")
        let (terminal, seconds) = (terminal, plan.idleSeconds)
        var options = store.options
        options.waitsByDefault = true
        return try await withStore(options) { store in
            try await store.importSampleCatalog()
            let idle = try await BenchIdle.measure(store, seconds: seconds)
            terminal.show(idle)
            return idle
        }
    }

    private func growth() async throws -> [BenchGrowth.Step] {
        guard !plan.growth.isEmpty else { return [] }
        terminal.heading("Growth: the same, with more in the books")
        let terminal = terminal
        let plan = plan
        // A separate store, whose books hold only the given number of purchases.
        return try await withStore(store.options) { store in
            try await store.importSampleCatalog()
            var load = plan.load
            load.purchases = plan.growthPurchases
            return try await BenchGrowth(
                load: BenchLoad(terminal: terminal, store: store),
                driven: load
            ).run(plan.growth)
        }
    }

    /// Renews subscriptions in a separate store, which nobody else's purchases have filled.
    private func subscriptions(beside rate: Int) async throws -> BenchSubscriptions.Result? {
        guard plan.subscriptions > 0 else { return nil }
        terminal.heading("Renewing \(Terminal.describe(plan.subscriptions)) subscriptions at once")
        let (terminal, plan) = (terminal, plan)
        return try await withStore(store.options) { store in
            try await store.importSampleCatalog()
            var load = plan.load
            load.rate = rate
            load.purchases = min(plan.load.purchases, max(100, rate * plan.openSeconds))
            let result = try await BenchSubscriptions(
                load: BenchLoad(terminal: terminal, store: store),
                count: plan.subscriptions,
                beside: load,
                idleSeconds: max(5, min(30, plan.idleSeconds))
            ).run()
            terminal.show(result)
            return result
        }
    }

    /// Buys with offers in a separate store, whose clock is set.
    private func offers() async throws -> BenchOffers.Result? {
        guard plan.offers > 0 else { return nil }
        terminal.heading("Buying \(Terminal.describe(plan.offers)) subscriptions with each offer")
        let (terminal, plan) = (terminal, plan)
        return try await withStore(store.options) { store in
            let offers = BenchOffers(terminal: terminal, store: store, count: plan.offers)
            let result = try await offers.run()
            terminal.show(result)
            return result
        }
    }

    /// Raises a price in a separate store, whose subscriptions are filled in.
    private func raised() async throws -> BenchRaise.Result? {
        guard plan.raise > 0 else { return nil }
        terminal.heading("Raising the price of \(Terminal.describe(plan.raise)) subscriptions")
        let (terminal, plan) = (terminal, plan)
        return try await withStore(store.options) { store in
            let raise = BenchRaise(terminal: terminal, store: store, count: plan.raise)
            let result = try await raise.run()
            terminal.show(result)
            return result
        }
    }

    // MARK: - Ceilings

    /// Measures whole purchases, and compares the rows that they write with those of the services.
    private func wholeCeiling(
        _ ceiling: inout Ceiling,
        _ sizes: BatchSizes,
        _ written: (rows: WrittenRows, purchases: Int)
    ) async throws -> (rate: Double, comparison: WrittenComparison) {
        // The first batches warm up: statements are prepared, and files get their first pages.
        _ = try await ceiling.drive(CeilingTransaction.accepting, purchases: warmUpCount, in: sizes)
        _ = try await ceiling.drive(CeilingTransaction.draining, purchases: warmUpCount, in: sizes)
        let names = ceiling.database
        let before = try await WrittenRows(in: store, databases: names)
        let accepting = try await ceiling.drive(
            CeilingTransaction.accepting,
            purchases: ceilingCount,
            in: sizes
        )
        let draining = try await ceiling.drive(
            CeilingTransaction.draining,
            purchases: ceilingCount,
            in: sizes
        )
        let after = try await WrittenRows(in: store, databases: names)
        let rate = Double(accepting.purchases) / (accepting.seconds + draining.seconds)
        terminal.field("whole", "\(Terminal.describe(Int(rate))) purchases/s", .bold)
        return (
            rate,
            WrittenComparison(
                run: written.rows,
                runPurchases: written.purchases,
                ceiling: after - before,
                ceilingPurchases: accepting.purchases
            )
        )
    }

    /// Measures the SQL of a drain, for purchases that were accepted before.
    private func drainCeiling(
        _ ceiling: inout Ceiling,
        _ sizes: BatchSizes
    ) async throws -> Double {
        _ = try await ceiling.drive(CeilingTransaction.accepting, purchases: warmUpCount, in: sizes)
        _ = try await ceiling.drive(CeilingTransaction.draining, purchases: warmUpCount, in: sizes)
        _ = try await ceiling.drive(
            CeilingTransaction.accepting,
            purchases: ceilingCount,
            in: sizes
        )
        let draining = try await ceiling.drive(
            CeilingTransaction.draining,
            purchases: ceilingCount,
            in: sizes
        )
        let rate = Double(draining.purchases) / draining.seconds
        terminal.field("draining", "\(Terminal.describe(Int(rate))) purchases/s", .bold)
        return rate
    }

    /// The number of purchases that lets it run for some seconds.
    private var ceilingCount: Int { min(plan.load.purchases, 30_000) }
    private var warmUpCount: Int { max(1, ceilingCount / 10) }
}

extension WrittenRows {
    /// Reads what was written to a store's databases, once its services are stopped.
    static func afterSessions(of store: StoreHarness) async throws -> WrittenRows {
        await store.stopServices()
        return try await WrittenRows(in: store) { store.databaseName($0) }
    }
}

import EventTypes
import Foundation
import Postgres
import StoreAPI
import StoreHarness

/// Renewals of many subscriptions at once.
///
/// The store sells subscriptions that all end at one instant of store time. Their first charges are due
/// within six hours of it (rule S510 of docs/subscriptions.md). The clock is advanced over these six
/// hours at once. The measurement lasts until every renewal is delivered to the queue of its account.
///
/// The subscriptions renew twice: first alone, then with buyers beside them, whose latency is measured. Just
/// before, the same buyers have the store for themselves, with the same books and on the same machine at
/// nearly the same time. The renewals begin a moment before the first buyer comes.
///
/// Meanwhile ten times as many subscriptions are in the table that have nothing to do for years.
/// Each of the others was bought over HTTP, so the audit holds for all of them.
struct BenchSubscriptions: Sendable {
    /// The measurements.
    struct Result: Sendable {
        let count: Int
        /// The renewals alone, and with buyers beside them.
        let alone: Renewal
        let besideBuyers: Renewal
        /// The seconds to advance the clock by a year, in which one monthly subscription renews.
        let year: Double
        /// The cost of a store in which no subscription has anything to do.
        let idle: Idle
        /// The purchases of others just before subscriptions were renewed, and while they were.
        let without: BenchResult
        let beside: BenchResult
        /// The memory of `payments` before the renewals, and its largest, in bytes.
        let memory: (before: Int, max: Int)
        let audit: AuditReport

        /// The renewals a second.
        var rate: Double { Double(count) / alone.delivered }

        /// The latency to purchased beside renewals, divided by that without them.
        var latencyRatios: (p50: Double, p99: Double) {
            let before = without.latencies { $0.purchased }
            let meanwhile = beside.latencies { $0.purchased }
            return (meanwhile.p50 / before.p50, meanwhile.p99 / before.p99)
        }

        /// The latency to purchased of those who came in the first two seconds, while renewals that were begun
        /// at full pace are still charged, and of all others.
        var latencyBesideByTime: (first: Latencies, later: Latencies) {
            (beside.latencies(ofSeconds: 0..<2), beside.latencies(ofSeconds: 2..<Double.infinity))
        }
    }

    /// The seconds until every renewal is charged, and until every one is delivered.
    struct Renewal: Sendable {
        let charged: Double
        let delivered: Double
        /// The processor time that each process used until then.
        var costs: [ProcessCost] = []
        /// The bytes of write-ahead log until then.
        var walBytes: Int64 = 0
        /// The whole pages in it.
        var walFullPages: Int64 = 0

        /// The costs of the store's own processes.
        var costsOfStore: [ProcessCost] { costs.filter(\.isOfStore) }

        /// The processor time of the store for each of some renewals, in microseconds.
        func microseconds(perEachOf count: Int) -> Double {
            costsOfStore.map { $0.microseconds(perEachOf: count) }.reduce(0, +)
        }

        /// The number of cores that were busy on average, with all that was measured.
        var busyCores: Double { costs.map(\.cpuSeconds).reduce(0, +) / delivered }
    }

    /// The cost of subscriptions that have nothing to do.
    struct Idle: Sendable {
        let count: Int
        /// Look-ups in the index of due actions a second.
        let lookUps: Double
        /// The subscriptions that these look-ups have read a second.
        let rowsRead: Double
        /// The processor time of the services and PostgreSQL, in percent of one core.
        let percent: Double
    }

    let load: BenchLoad
    let count: Int
    /// The purchases of others.
    let beside: BenchDriver.Load
    /// For how many seconds to count look-ups.
    let idleSeconds: Int

    /// The time before the end of a period at which its first charge is due at the latest.
    private static let window = "6h1m"

    private var store: StoreHarness { load.store }
    private var terminal: Terminal { load.terminal }
    private var subscribers: BenchSubscribers { BenchSubscribers(store: store, count: count) }

    /// Runs it.
    ///
    /// The services run before and after.
    ///
    /// - Returns: All measurements.
    /// - Throws: ``HarnessError`` if the audit finds something.
    func run() async throws -> Result {
        try await store.addSubscription()
        _ = try await store.administrator.freezeClock().value
        let (year, first) = try await renewForAYear()
        terminal.field("a year", "of one monthly subscription in \(Self.text(year)) s")
        let start = ContinuousClock.now
        var accepted = [first] + (try await subscribers.subscribe())
        let buying = ContinuousClock.now - start
        terminal.done("\(Terminal.describe(count)) subscriptions are bought", buying)
        try await addIdle(like: accepted[1])
        let idle = try await idle()
        terminal.field(
            "idle",
            "\(Self.text(idle.lookUps)) index look-ups a second in \(Terminal.describe(idle.count)) "
                + "more, \(Self.text(idle.percent)) % of a core"
        )
        try await subscribers.advanceToTheFirstCharge(of: accepted[1])
        let before = usage()?.residentBytes ?? 0
        let alone = try await renew()
        terminal.show(alone, of: count)
        terminal.showCost(of: alone, of: count)
        accepted += try await load.warmUp(for: beside)
        try await subscribers.advanceToTheFirstCharge(of: accepted[1])
        let without = try await load.drive(beside)
        accepted += without.accepted
        var buyers = beside
        // They buy for as long as it takes, and a little longer.
        let seconds = max(10, Int(alone.delivered * 1.3))
        buyers.purchases = min((beside.rate ?? 100) * seconds, 200_000)
        async let others = load.drive(buyers)
        let besideBuyers = try await renew()
        let bought = try await others
        accepted += bought.accepted
        let memory = (before, usage()?.residentBytesMax ?? 0)
        try await removeIdle()
        let audit = try await subscribers.audit(accepted, terminal)
        return Result(
            count: count,
            alone: alone,
            besideBuyers: besideBuyers,
            year: year,
            idle: idle,
            without: without,
            beside: bought,
            memory: memory,
            audit: audit
        )
    }

    private func usage() -> ProcessUsage? {
        ProcessCost.usages(of: store).first { $0.name == StoreService.payments.rawValue }?.usage
    }

    /// Buys one subscription, advances the clock by a year, and cancels it.
    private func renewForAYear() async throws -> (seconds: Double, payment: AcceptedPayment) {
        let client = try store.client(account: "yearly-subscriber")
        let transaction = try await client.addUntilAnswered(.sample(SampleCatalog.club)).value
            .transaction
        try await client.wait(for: transaction.id, toBe: .purchased)
        let start = ContinuousClock.now
        try await subscribers.advance(by: "365d")
        let time = ContinuousClock.now - start
        _ = try await client.setAutoRenew(false, of: transaction.id).value
        return (
            time.seconds,
            AcceptedPayment(transactionID: transaction.id, account: transaction.accountID)
        )
    }

    /// Adds ten times as many subscriptions that have nothing to do for ten years.
    private func addIdle(like payment: AcceptedPayment) async throws {
        let start = ContinuousClock.now
        let (count, account) = (Int64(count * 10), payment.account)
        try await store.withDatabase(of: .payments) { connection in
            _ = try connection.execute(
                """
                INSERT INTO subscriptions (account_id, bundle_id, group_id, id, version, state, data,
                    payment_method, due_at, due_kind, tries)
                SELECT 'idle-' || n, bundle_id, group_id, 1000000000000000 + n, version, state,
                    data, payment_method, due_at + interval '10 years', due_kind, tries
                FROM subscriptions, generate_series(1, \(count)) AS n
                WHERE account_id = \(account.rawValue)
                """
            )
        }
        terminal.done(
            "\(Terminal.describe(Int(count))) have nothing to do",
            ContinuousClock.now - start
        )
    }

    private func removeIdle() async throws {
        try await store.withDatabase(of: .payments) { connection in
            _ = try connection.execute("DELETE FROM subscriptions WHERE account_id LIKE 'idle-%'")
        }
    }

    /// Measures the store while no subscription has anything to do.
    private func idle() async throws -> Idle {
        let before = try await settledScans()
        let start = ContinuousClock.now
        let idle = try await BenchIdle.measure(store, seconds: idleSeconds)
        let after = try await scans()
        let seconds = (ContinuousClock.now - start).seconds
        return Idle(
            count: count * 10,
            lookUps: Double(after.scans - before.scans) / seconds,
            rowsRead: Double(after.rows - before.rows) / seconds,
            percent: idle.percent
        )
    }

    /// Counts once PostgreSQL has counted what was done before.
    ///
    /// A session that has become idle reports its last look-ups ten seconds later.
    private func settledScans() async throws -> (scans: Int64, rows: Int64) {
        try await Task.sleep(for: .seconds(11))
        return try await scans()
    }

    private func scans() async throws -> (scans: Int64, rows: Int64) {
        let row = try await store.withDatabase(of: .payments) { connection in
            try connection.query(
                """
                SELECT idx_scan, idx_tup_read FROM pg_stat_user_indexes
                WHERE indexrelname = 'subscriptions_due'
                """
            ).first?.decode(Int64.self, Int64.self)
        }
        return row.map { ($0.0, $0.1) } ?? (0, 0)
    }

    /// Renews all subscriptions once, and waits until the queues have the new period of each.
    private func renew() async throws -> Renewal {
        let last = try await subscribers.newestTransaction()
        let usages = ProcessCost.usages(of: store)
        let wal = try await store.walBytes()
        let pages = try await store.walFullPages()
        let start = ContinuousClock.now
        try await subscribers.advance(by: Self.window)
        let charged = (ContinuousClock.now - start).seconds
        try await subscribers.untilTheNewestRenewalIsDelivered()
        try await subscribers.untilDelivered(count, after: last)
        return Renewal(
            charged: charged,
            delivered: (ContinuousClock.now - start).seconds,
            costs: ProcessCost.costs(of: store, since: usages),
            walBytes: try await store.walBytes() - wal,
            walFullPages: try await store.walFullPages() - pages
        )
    }

    private static func text(_ number: Double) -> String { String(format: "%.2f", number) }
}

import EventTypes
import Foundation
import Postgres
import StoreAPI
import StoreHarness

/// Renewals of many subscriptions at once, with buyers beside them.
///
/// The store sells subscriptions that all end at one instant of store time. Their first charges are due
/// within six hours of it (rule S510 of docs/subscriptions.md). The clock is advanced over these six
/// hours at once. The measurement lasts until every renewal is delivered to the queue of its account.
/// Each subscription was bought over HTTP, so the audit holds for all of them.
struct BenchSubscriptions: Sendable {
    /// The measurements.
    struct Result: Sendable {
        let count: Int
        /// The seconds until every renewal is charged, and until every one is delivered.
        let charged: Double
        let delivered: Double
        /// The seconds to advance the clock by a year, in which one monthly subscription renews.
        let year: Double
        /// Look-ups in the index of due actions a second, while nothing is due.
        let lookUps: Double
        /// The subscriptions that these look-ups have read a second.
        let rowsRead: Double
        /// The purchases of others while subscriptions were renewed.
        let beside: BenchResult
        /// The largest memory of `payments`, in bytes.
        let memory: Int
        let audit: AuditReport

        /// The renewals a second.
        var rate: Double { Double(count) / delivered }
    }

    let load: BenchLoad
    let count: Int
    /// The purchases of others.
    let beside: BenchDriver.Load
    /// For how many seconds to count look-ups.
    let idleSeconds: Int

    /// The subscribers that ask at once.
    private static let askers = 64
    /// The time before the end of a period at which its first charge is due at the latest.
    private static let window = "6h1m"

    private var store: StoreHarness { load.store }
    private var terminal: Terminal { load.terminal }

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
        var accepted = [first] + (try await subscribe())
        let buying = ContinuousClock.now - start
        terminal.done("\(Terminal.describe(count)) subscriptions are bought", buying)
        let (lookUps, rows) = try await idle()
        terminal.field("idle", "\(Self.text(lookUps)) index look-ups a second")
        try await advanceToTheFirstCharge(of: accepted[1])
        let renewed = try await renew()
        accepted += renewed.beside.accepted
        let memory =
            ProcessCost.usages(of: store).filter { $0.name.hasPrefix("payments") }
            .map(\.usage.residentBytesMax).max() ?? 0
        // Nobody finishes subscriptions here.
        let audit = AuditReport(
            of: try await store.reconcile(within: .seconds(60)),
            accepted: accepted,
            isFinished: false
        )
        guard audit.isClean else {
            terminal.show(audit)
            throw HarnessError("The guarantee is broken: \(audit.verdict).")
        }
        return Result(
            count: count,
            charged: renewed.charged,
            delivered: renewed.delivered,
            year: year,
            lookUps: lookUps,
            rowsRead: rows,
            beside: renewed.beside,
            memory: memory,
            audit: audit
        )
    }

    /// Buys one subscription, advances the clock by a year, and cancels it.
    private func renewForAYear() async throws -> (seconds: Double, payment: AcceptedPayment) {
        let client = try store.client(account: "subscriber-of-a-year")
        let transaction = try await client.addUntilAnswered(.sample(SampleCatalog.club)).value
            .transaction
        try await client.wait(for: transaction.id, toBe: .purchased)
        let start = ContinuousClock.now
        try await advance(by: "365d")
        let time = ContinuousClock.now - start
        _ = try await client.setAutoRenew(false, of: transaction.id).value
        return (
            time.seconds,
            AcceptedPayment(transactionID: transaction.id, account: transaction.accountID)
        )
    }

    /// Sells the subscriptions, each to an account of its own, and waits until they are paid.
    private func subscribe() async throws -> [AcceptedPayment] {
        let count = count
        let payments = try await withThrowingTaskGroup(of: [AcceptedPayment].self) { group in
            for asker in 0..<Self.askers {
                group.addTask {
                    var accepted: [AcceptedPayment] = []
                    for number in stride(from: asker, to: count, by: Self.askers) {
                        let client = try store.client(account: "subscriber-\(number)")
                        let transaction = try await client.addUntilAnswered(
                            .sample(SampleCatalog.club)
                        ).value.transaction
                        accepted.append(
                            AcceptedPayment(
                                transactionID: transaction.id,
                                account: transaction.accountID
                            )
                        )
                    }
                    return accepted
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        try await untilDelivered(count)
        return payments
    }

    /// Counts the look-ups of due actions while nothing is due.
    private func idle() async throws -> (lookUps: Double, rows: Double) {
        let before = try await scans()
        let start = ContinuousClock.now
        try await Task.sleep(for: .seconds(idleSeconds))
        let after = try await scans()
        let seconds = (ContinuousClock.now - start).seconds
        return (
            Double(after.scans - before.scans) / seconds, Double(after.rows - before.rows) / seconds
        )
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

    private func advanceToTheFirstCharge(of payment: AcceptedPayment) async throws {
        let client = try store.client(account: payment.account.rawValue)
        let known = try await client.subscriptions().value.subscriptions.first
        let now = try await store.administrator.clock().value.now
        guard let end = known?.period.end else {
            throw HarnessError("The first subscriber has no subscription.")
        }
        let distance = end.duration(since: now).milliseconds - (86_400 + 60) * 1000
        try await advance(by: "\(distance)ms")
    }

    /// Renews all subscriptions while others buy.
    private func renew() async throws -> (charged: Double, delivered: Double, beside: BenchResult) {
        let start = ContinuousClock.now
        async let others = load.drive(beside)
        try await advance(by: Self.window)
        let charged = (ContinuousClock.now - start).seconds
        try await untilDelivered(2 * count)
        let delivered = (ContinuousClock.now - start).seconds
        return (charged, delivered, try await others)
    }

    /// Waits until the queues have so many delivered periods of the subscribers.
    private func untilDelivered(_ periods: Int) async throws {
        try await eventually(within: .seconds(1800), "\(periods) periods to be delivered") {
            let known = try await store.withDatabase(of: .fulfillment) { connection in
                try connection.query(
                    """
                    SELECT count(*) FROM queue_transactions
                    WHERE account_id LIKE 'subscriber-%' AND account_id <> 'subscriber-of-a-year'
                        AND is_delivered
                    """
                ).first?.decode(Int64.self)
            }
            return known == Int64(periods) ? true : nil
        }
    }

    private func advance(by span: String) async throws {
        let administrator = try store.administrator
        let key = UUID().uuidString
        let target = try await eventually("an advance of the clock to begin") {
            let answer = try await administrator.advanceClock(by: span, key: key)
            return try answer.asksToTryAgain ? nil : answer.value.target
        }
        try await eventually(within: .seconds(1800), "the clock to be advanced") {
            let clock = try await administrator.clock().value
            return clock.status == .ready && clock.now >= target ? true : nil
        }
    }

    private static func text(_ number: Double) -> String { String(format: "%.2f", number) }
}

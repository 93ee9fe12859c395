import EventTypes
import Postgres
import StoreAPI
import StoreHarness

/// A higher price that the catalog schedules for many subscribers, and what renewals feel of it.
///
/// Some subscriptions are bought over HTTP and renew twice: first alone, then while all subscribers are
/// told of the raise. The others are filled in and have nothing to do for ten years. They are in no
/// other book, so no audit follows; each subscription is checked to have been told once.
///
/// An advance of the clock waits until all are told, so the clock runs fast over the renewals instead.
struct BenchRaise: Sendable {
    /// The measurements.
    struct Result: Sendable {
        /// The subscriptions that were told.
        let told: Int
        /// The seconds from the change of the catalog until the last subscription was told.
        let seconds: Double
        /// The seconds of the longest database transaction of `payments` meanwhile.
        var longestTransaction: Double { longest.seconds }
        /// The longest database transaction of `payments` meanwhile.
        let longest: OpenTransaction
        /// The subscriptions that renewed.
        let renewed: Int
        /// The seconds until all renewals were delivered, alone and while subscribers were told.
        let alone: Double
        let beside: Double
        /// The most memory that each service has had since its start, in megabytes.
        var memory: [String: Int] = [:]

        /// The rate of renewals while subscribers were told, divided by that alone.
        var ratio: Double { alone / beside }
        /// The subscriptions that were told a second.
        var rate: Double { Double(told) / seconds }
    }

    /// A database transaction while it was open.
    struct OpenTransaction {
        /// The time for which it had been open when it was last seen.
        var seconds = 0.0
        /// The name and state of the session that had it open, and the beginning of its last statement.
        var owner = ""
    }

    let terminal: Terminal
    let store: StoreHarness
    /// The subscriptions that are filled in.
    let count: Int

    /// The speed of the clock over the six hours in which charges are due.
    private static let rate = "1s=6h"
    private static let window = Duration.seconds(6 * 3600 + 120)
    /// The ids of what is filled in come after it, and before those of all purchases.
    private static let firstFilled: Int64 = 1_000_000_000_000_000

    private var subscribers: BenchSubscribers {
        BenchSubscribers(store: store, count: min(count, 5000))
    }

    /// Runs it.
    ///
    /// - Returns: All measurements.
    /// - Throws: ``HarnessError`` if a subscription was not told, or was told twice.
    func run() async throws -> Result {
        try await store.addSubscription()
        _ = try await store.administrator.freezeClock().value
        let accepted = try await subscribers.subscribe()
        let start = ContinuousClock.now
        try await fill(like: accepted[0])
        try await store.vacuum()
        terminal.done(
            "\(Terminal.describe(count)) subscriptions are filled in",
            ContinuousClock.now - start
        )
        try await subscribers.advanceToTheFirstCharge(of: accepted[0])
        let alone = try await renew(to: 2)
        try await subscribers.advanceToTheFirstCharge(of: accepted[0])
        let watch = Task { try await watchTransactions() }
        defer { watch.cancel() }
        let scheduled = ContinuousClock.now
        try await schedule()
        async let told = untilTold(since: scheduled)
        let beside = try await renew(to: 3)
        let seconds = try await told
        watch.cancel()
        let longest = try await watch.value
        try await expectToldOnce()
        return Result(
            told: count + subscribers.count,
            seconds: seconds,
            longest: longest,
            renewed: subscribers.count,
            alone: alone,
            beside: beside,
            memory: memory()
        )
    }

    private func memory() -> [String: Int] {
        var memory: [String: Int] = [:]
        for (name, usage) in ProcessCost.usages(of: store) where StoreService(rawValue: name) != nil
        {
            memory[name] = usage.residentBytesMax / 1_048_576
        }
        return memory
    }

    /// Fills in copies of a subscription whose period ends ten years later.
    ///
    /// The text of each is changed, and not its JSON, so it is read as fast as what the store writes. What
    /// all copies share is made once for each statement.
    private func fill(like payment: AcceptedPayment) async throws {
        let account = payment.account.rawValue
        for first in stride(from: 1, through: count, by: 50_000) {
            let numbers = (first: Int64(first), last: Int64(min(first + 49_999, count)))
            try await store.withDatabase(of: .payments) { connection in
                _ = try connection.execute(
                    """
                    WITH pattern AS MATERIALIZED (
                        SELECT bundle_id, group_id, version, state, payment_method,
                            due_at + interval '10 years' AS due_at, due_kind, tries,
                            replace(replace(replace(data::text,
                                '"accountID":"' || account_id || '"', '"accountID":"filled-{n}"'),
                                '"id":"' || id || '"', '"id":"{id}"'),
                                '"end":' || (data #>> '{period,end}'),
                                '"end":' || ((data #>> '{period,end}')::bigint + 315360000000))
                                AS data
                        FROM subscriptions WHERE account_id = \(account)
                    )
                    INSERT INTO subscriptions (account_id, bundle_id, group_id, id, version, state,
                        data, payment_method, due_at, due_kind, tries)
                    SELECT 'filled-' || n, bundle_id, group_id, \(Self.firstFilled) + n, version, state,
                        replace(replace(data, '{n}', n::text),
                            '{id}', (\(Self.firstFilled) + n)::text)::json,
                        payment_method, due_at, due_kind, tries
                    FROM pattern, generate_series(\(numbers.first), \(numbers.last)) AS n
                    """
                )
            }
            guard numbers.last % 200_000 == 0 else { continue }
            show(Int(numbers.last), "are filled in")
        }
    }

    /// Shows how far a long step is.
    private func show(_ done: Int, _ what: String) {
        let (done, all) = (Terminal.describe(done), Terminal.describe(count))
        terminal.line("    \(done) of \(all) subscriptions \(what)", .dim)
    }

    /// Schedules a raise that counts after all renewals of this run.
    private func schedule() async throws {
        let time = try await store.administrator.clock().value.now
            .advanced(by: .seconds(5 * 365 * 86_400))
        var draft = SampleCatalog.subscription()
        draft.priceChanges = [
            SampleCatalog.usa: PriceChange(
                price: SampleCatalog.usd(349),
                from: time,
                existingSubscribers: .raise
            )
        ]
        try await subscribers.sell(draft)
    }

    /// Waits until nobody has to be told any more, and returns the seconds since a moment.
    ///
    /// It shows every ten seconds how many are told. Those that are filled in have the lowest ids, so they
    /// are told first. Each look makes a connection, so one that lasts for minutes looks once a second.
    private func untilTold(since start: ContinuousClock.Instant) async throws -> Double {
        var shown = start
        while ContinuousClock.now - start < .seconds(7200) {
            let (isFinished, reached) = try await told()
            if isFinished { return (ContinuousClock.now - start).seconds }
            if ContinuousClock.now - shown > .seconds(10) {
                shown = .now
                show(min(max(0, Int(reached - Self.firstFilled)), count), "are told")
            }
            let isLong = ContinuousClock.now - start > .seconds(20)
            try await Task.sleep(for: isLong ? .seconds(1) : BenchSubscribers.pause)
        }
        throw HarnessError("All subscribers are still not told after two hours.")
    }

    /// Whether all subscribers are told, and the last one that is.
    private func told() async throws -> (isFinished: Bool, reached: Int64) {
        let row = try await store.withDatabase(of: .payments) { connection in
            try connection.query(
                """
                SELECT coalesce(bool_and(is_finished), false), coalesce(max(reached_id), 0)
                FROM price_enrolments
                """
            ).first?.decode(Bool.self, Int64.self)
        }
        return row.map { ($0.0, $0.1) } ?? (false, 0)
    }

    /// Lets all charges of a period fall due at once, and waits until the queues have so many periods.
    ///
    /// - Returns: The seconds until then.
    private func renew(to periods: Int) async throws -> Double {
        let administrator = try store.administrator
        let end = try await administrator.clock().value.now.advanced(by: Self.window)
        let start = ContinuousClock.now
        _ = try await eventually("the clock to run") {
            let answer = try await administrator.runClock(rate: Self.rate)
            return try answer.asksToTryAgain ? nil : answer.value
        }
        try await eventually("the charges to be due") {
            if try await administrator.clock().value.now >= end { return true }
            try await Task.sleep(for: BenchSubscribers.pause)
            return nil
        }
        _ = try await administrator.freezeClock().value
        try await subscribers.untilDelivered(periods * subscribers.count)
        return (ContinuousClock.now - start).seconds
    }

    /// Watches the database transactions of `payments` until it is cancelled.
    ///
    /// - Returns: The longest one, which may have lasted a fiftieth of a second longer.
    private func watchTransactions() async throws -> OpenTransaction {
        var longest = OpenTransaction()
        do {
            while !Task.isCancelled {
                let open = try await longestTransaction()
                if open.seconds > longest.seconds { longest = open }
            }
        } catch {
            // It may be cancelled within a look.
            guard Task.isCancelled else { throw error }
        }
        return longest
    }

    /// Looks at the database transactions of `payments` for a fifth of a second.
    ///
    /// A look that is cancelled is lost, so it is short.
    private func longestTransaction() async throws -> OpenTransaction {
        let database = store.databaseName(.payments)
        return try await store.cluster.asSuperuser { connection in
            var longest = OpenTransaction()
            for _ in 0..<10 {
                let row = try connection.query(
                    """
                    SELECT extract(epoch FROM clock_timestamp() - xact_start)::float8,
                        concat_ws(' ', application_name, state, wait_event_type, wait_event)
                            || ': ' || left(regexp_replace(query, '\\s+', ' ', 'g'), 200)
                    FROM pg_stat_activity
                    WHERE datname = \(database) AND backend_type = 'client backend'
                        AND application_name NOT LIKE 'tests%' AND xact_start IS NOT NULL
                    ORDER BY xact_start LIMIT 1
                    """
                ).first?.decode(Double.self, String.self)
                if let row, row.0 > longest.seconds {
                    longest = OpenTransaction(seconds: row.0, owner: row.1)
                }
                _ = try connection.query("SELECT pg_sleep(0.02)")
            }
            return longest
        }
    }

    private func expectToldOnce() async throws {
        let counts = try await store.withDatabase(of: .payments) { connection in
            try connection.query(
                """
                SELECT count(*) FILTER (WHERE data #>> '{priceIncrease,status}' = 'scheduled'),
                    count(*) FILTER (WHERE account_id LIKE 'filled-%' AND version <> 2)
                FROM subscriptions WHERE id IS NOT NULL
                """
            ).first?.decode(Int64.self, Int64.self)
        }
        let (told, others) = counts.map { ($0.0, $0.1) } ?? (0, 0)
        guard told == Int64(count + subscribers.count), others == 0 else {
            throw HarnessError(
                "\(told) subscriptions have the raise; \(others) were not told once."
            )
        }
    }
}

extension Terminal {
    /// Shows how subscribers were told of a raise.
    func show(_ result: BenchRaise.Result) {
        field("told", "\(Terminal.describe(result.told)) subscriptions")
        field("time", Terminal.describe(.seconds(result.seconds)))
        field("rate", "\(Terminal.describe(Int(result.rate))) subscriptions/s", .bold)
        field("longest", "\(Terminal.describe(.seconds(result.longestTransaction))) a transaction")
        if result.longestTransaction > 0.5 { line("    of \(result.longest.owner)", .dim) }
        field(
            "renewals",
            "\(Terminal.describe(result.renewed)) in \(Terminal.describe(.seconds(result.alone))) "
                + "alone, in \(Terminal.describe(.seconds(result.beside))) beside it"
        )
        guard !result.memory.isEmpty else { return }
        let memory = result.memory.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value) MB" }
        field("memory", "at most \(memory.joined(separator: ", "))")
    }
}

import EventTypes
import Logging
import Messaging
import Postgres
import StoreTracing
import Subscriptions

/// Carries out the due actions of subscriptions, a batch in one database transaction.
///
/// It locks the rows that are due, reads what the actions have to know, lets ``RenewalPlan`` decide,
/// and writes the plan. A charge is written as an attempt of a new transaction, which `ChargeRunner`
/// carries out as any other.
struct RenewalHandler: Sendable {
    let context: PaymentsContext
    let products: ProductStore
    let tax: TaxRates
    /// Stops the work after the clock was set ahead; `nil` if tests may set it.
    var jumps: ClockJumpGuard?
    /// Called after each commit with the attempts to carry out; the outbox may have new events.
    let didCommit: @Sendable ([ProcessorAttempt]) -> Void
    /// The subscriptions whose action could not be carried out.
    let failed = FailedWork<TransactionID>(of: "actions")

    /// Carries out actions that are due, the oldest first.
    ///
    /// If a batch has an action that cannot be carried out, each gets a database transaction of its own.
    ///
    /// - Parameter limit: The most subscriptions.
    /// - Returns: The number of subscriptions that it has looked at; if it is the limit, there may be
    ///   others.
    /// - Throws: `PostgresError`, or an error of what is written.
    func carryOut(limit: Int) async throws -> Int {
        let left = failed.current()
        do {
            return try await carryOut { time, connection in
                try DueSubscriptionStore.take(
                    at: time,
                    limit: limit,
                    besides: left,
                    on: connection
                )
            }
        } catch let error where RowError.matches(error) {
            return try await carryOutEach(limit: limit, besides: left)
        }
    }

    /// Carries out actions that are due, one after the other.
    ///
    /// One that cannot be carried out is left alone for a while. It stays due, so the metrics show it, and an
    /// advance of the store's clock waits for it.
    private func carryOutEach(limit: Int, besides left: Set<TransactionID>) async throws -> Int {
        let time = context.now()
        let ids = try await context.client.withConnection { connection in
            try DueSubscriptionStore.ids(at: time, limit: limit, besides: left, on: connection)
        }
        for id in ids {
            do {
                _ = try await carryOut { time, connection in
                    try DueSubscriptionStore.take(id, at: time, on: connection)
                }
                failed.forget(id)
            } catch let error where RowError.matches(error) {
                failed.leaveAlone(
                    id,
                    because: error,
                    ["work": "due action", "subscription.id": "\(id)"],
                    in: context.logger
                )
            }
        }
        return ids.count
    }

    /// Carries out the actions of the rows that are taken, in one database transaction.
    private func carryOut(
        _ take:
            @escaping @Sendable (StoreTime, isolated PostgresConnection) throws
            -> [SubscriptionRow]
    ) async throws -> Int {
        let (count, attempts) = try await context.client.withTransaction { [self] connection in
            try carryOut(take, on: connection)
        }
        if count > 0 { didCommit(attempts) }
        return count
    }

    private func carryOut(
        _ take: (StoreTime, isolated PostgresConnection) throws -> [SubscriptionRow],
        on connection: isolated PostgresConnection
    ) throws -> (count: Int, attempts: [ProcessorAttempt]) {
        let time = context.now()
        if let jumps, jumps.isStopped(at: time) {
            let confirmed = try ClockStore.confirmed(on: connection)
            guard !jumps.isStopped(at: time, confirmed: confirmed) else { return (0, []) }
        }
        let due = try take(time, connection)
        guard !due.isEmpty else { return (0, []) }
        let plan = try plan(
            due,
            nil,
            due.map { _ in TraceContext.begin() },
            at: time,
            on: connection
        )
        return (due.count, try write(plan, at: time, on: connection))
    }

    /// Charges now for a period of a subscription, because somebody asks for it.
    ///
    /// - Parameters:
    ///   - row: The subscription, locked.
    ///   - request: What is charged.
    ///   - isBuyerPresent: Whether the buyer asks, and may act on the bank's page.
    ///   - key: The key under which the transaction of the charge is found again; `nil` if it has none.
    ///   - trace: The trace of the request.
    ///   - connection: A connection in a database transaction.
    /// - Returns: What was written, and the attempts to carry out after the commit.
    /// - Throws: `PostgresError`, or an error of what is written.
    func charge(
        _ row: SubscriptionRow,
        _ request: RenewalPlan.Request,
        isBuyerPresent: Bool = false,
        under key: UsedKey? = nil,
        within trace: TraceContext,
        on connection: isolated PostgresConnection
    ) throws -> (plan: RenewalPlan, attempts: [ProcessorAttempt]) {
        let time = context.now()
        let plan = try plan([row], request, [trace], at: time, on: connection)
        let attempts = try write(
            plan,
            isBuyerPresent: isBuyerPresent,
            under: key,
            at: time,
            on: connection
        )
        return (plan, attempts)
    }

    /// Reads what the actions of subscriptions have to know, and decides them.
    private func plan(
        _ rows: [SubscriptionRow],
        _ request: RenewalPlan.Request?,
        _ traceparents: [TraceContext],
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> RenewalPlan {
        let subscriptions = rows.compactMap(\.subscription)
        let accounts = Set(
            subscriptions.map { AccountKey(accountID: $0.accountID, bundleID: $0.bundleID) }
        )
        let (products, standings, paid, ids, tests, memory) = try connection.read(
            products.load(
                Set(subscriptions.map { ($0.nextProduct ?? $0.product).id }),
                at: time
            ),
            AccountStore.standings(of: accounts),
            TransactionStore.repeatedTerms(of: subscriptions.map(\.period.transactionID)),
            TransactionStore.nextIDs(rows.count),
            TestSettingsStore.settings(of: context.testedAccounts(accounts)),
            BookGapStore.reading()
        )
        var gap = memory?.presentGap(at: context.machineNow(), time)
        // Whoever sets the store's clock may have set it to any time that the books have lost.
        if context.environment == .sandbox { gap?.end = nil }
        return RenewalPlan(
            rows,
            asked: request,
            RenewalPlan.Facts(
                products: products,
                standings: standings,
                paid: paid,
                transactionIDs: ids,
                traceparents: traceparents,
                tests: tests,
                gap: gap
            ),
            by: context.subscriptions,
            drawing: context.ids,
            tax: tax,
            leaseEnd: context.leaseEnd,
            at: time
        )
    }

    private func write(
        _ plan: RenewalPlan,
        isBuyerPresent: Bool = false,
        under key: UsedKey? = nil,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [ProcessorAttempt] {
        try TestSettingsStore.save(plan.simulated.changed, on: connection)
        try context.save(plan.books.changedRows, decidedAt: time, on: connection)
        if context.environment == .sandbox, !plan.done.isEmpty {
            let counts = plan.done.map { ($0.key.rawValue, $0.value) }
            try ClockStore.addToAdvance(Dictionary(uniqueKeysWithValues: counts), on: connection)
        }
        let changes = try plan.books.changes.map {
            try OutboxEvent($0, at: time, in: context.environment)
        }
        var acceptances = plan.acceptances
        // Only one subscription is charged under a key, or for a buyer who asks. Others stay uncopied.
        if key != nil || isBuyerPresent {
            for index in acceptances.indices {
                acceptances[index].key = key
                acceptances[index].attempt?.isBuyerPresent = isBuyerPresent
            }
        }
        let written = try AcceptanceWriter(context: context).write(
            acceptances,
            followedBy: changes,
            at: time,
            on: connection
        )
        if written.isEmpty { try Outbox.append(changes, on: connection) }
        return written.compactMap(\.attempt)
    }
}

import EventTypes
import Ledger
import Logging
import Messaging
import Metrics
import Postgres
import StoreTracing
import Subscriptions

/// One database transaction that applies outcomes or commands.
///
/// It locks and reads rows, lets ``SettlementPlan`` decide, and writes the plan.
struct Settlement {
    let context: PaymentsContext
    /// The trace of an administrator's request; transactions without a trace join it.
    let trace: TraceContext?
    var plan: SettlementPlan
    /// Events of other changes in the same database transaction, published after those of the plan.
    var others: [OutboxEvent] = []

    /// Begins a settlement at the present time.
    ///
    /// - Parameters:
    ///   - context: The context of the service.
    ///   - trace: The trace of an administrator's request, if there is one.
    init(_ context: PaymentsContext, within trace: TraceContext? = nil) {
        self.context = context
        self.trace = trace
        plan = SettlementPlan(
            time: context.now(),
            machineTime: context.machineNow(),
            policy: context.policy,
            ids: context.ids,
            subscriptions: context.subscriptions
        )
    }

    /// Settles a batch of outcomes.
    mutating func settle(
        _ results: [AttemptResult],
        on connection: isolated PostgresConnection
    ) throws -> OutcomeReport {
        try lock(
            Array(Set(results.map(\.key.transactionID))),
            withSubscriptions: results.contains(where: \.mayConcernSubscription),
            areRenewals: results.allSatisfy(\.isOfRenewal),
            on: connection
        )
        for result in results {
            plan.apply(result)
        }
        return try write(on: connection)
    }

    /// Locks and reads transactions with all their attempts, and their subscriptions before them, in
    /// one round trip.
    ///
    /// - Parameters:
    ///   - ids: The transactions.
    ///   - withSubscriptions: Whether any of them may be one of a subscription.
    ///   - areRenewals: Whether all of them are tries to renew, whose subscriptions are found by their ids.
    ///   - connection: A connection in a database transaction.
    /// - Throws: `PostgresError`, or an error of a row that cannot be read.
    mutating func lock(
        _ ids: [TransactionID],
        withSubscriptions: Bool = true,
        areRenewals: Bool = false,
        on connection: isolated PostgresConnection
    ) throws {
        let places =
            areRenewals
            ? SubscriptionStore.locking(ofRenewals: ids)
            : SubscriptionStore.locking(of: withSubscriptions ? ids : [])
        let (subscriptions, records, attempts) = try connection.read(
            places,
            TransactionStore.locking(ids),
            AttemptStore.locking(of: ids)
        )
        plan.subscriptions.take(subscriptions)
        // No subscription is changed without its lock, even if it was expected that there is none.
        let missing = Set(records.values.compactMap { SubscriptionKey(of: $0.transaction) })
            .filter { plan.subscriptions.rows[$0] == nil }
        plan.subscriptions.take(try connection.read(SubscriptionStore.locking(missing)))
        plan.take(records, attempts)
    }

    /// Writes the refunds that changes of subscriptions have booked outside a settlement, as by an
    /// upgrade to a product that costs nothing.
    ///
    /// - Parameters:
    ///   - owed: The refunds, whose subscriptions are locked.
    ///   - connection: The connection with the open database transaction.
    /// - Returns: The attempts to carry out after the commit.
    /// - Throws: `PostgresError`, or an error of a row that cannot be read.
    mutating func refund(
        _ owed: [SubscriptionPlan.OwedRefund],
        on connection: isolated PostgresConnection
    ) throws -> [ProcessorAttempt] {
        guard !owed.isEmpty else { return [] }
        try lock(owed.map(\.transactionID), withSubscriptions: false, on: connection)
        plan.addRefunds(owed)
        return try write(on: connection).followUps
    }

    /// Writes the plan.
    ///
    /// The outbox comes last, as `Outbox` requires.
    mutating func write(on connection: isolated PostgresConnection) throws -> OutcomeReport {
        try passOnOwnerships(on: connection)
        try addOwedRefunds(on: connection)
        for contradiction in plan.contradictions { log(contradiction) }
        try TransactionStore.update(plan.changedRecords, on: connection)
        try AttemptStore.update(plan.changedAttempts, owner: context.owner, on: connection)
        try AttemptStore.insert(
            plan.newAttempts,
            owner: context.owner,
            calledFrom: plan.machineTime,
            on: connection
        )
        try LedgerStore.append(plan.postings, on: connection)
        try context.save(
            plan.subscriptions.changedRows,
            encodedAs: plan.subscriptions.documents,
            decidedAt: plan.time,
            on: connection
        )
        try SubscriptionStore.saveIntroductions(plan.subscriptions.introducedRows, on: connection)
        try FamilyWorkStore.note(plan.changedRecords, on: connection)
        try PaymentMethodStore.refuse(plan.refusedMethods, at: plan.machineTime, on: connection)
        let (events, steps) = try traced(plan.events)
        let changes = try plan.subscriptions.changes.map {
            try OutboxEvent($0, at: plan.time, in: context.environment)
        }
        try Outbox.append(events + changes + others, on: connection)
        // The rows of codes are always locked last.
        try CodeStore.giveBack(plan.failedRedemptions, on: connection)
        var report = plan.report
        report.steps = steps
        return report
    }

    /// Makes each event a step in the trace of its own transaction, even if that waited for
    /// another.
    private func traced(
        _ planned: [TransactionEvent]
    ) throws -> (events: [OutboxEvent], steps: [(type: EventType, step: SpanStep)]) {
        var steps: [(type: EventType, step: SpanStep)] = []
        // New traces, for transactions without one.
        var begun: [TransactionID: TraceContext] = [:]
        let events = try planned.map { event in
            var event = event
            let id = event.transaction.id
            let traceparent = event.traceparent ?? begun[id] ?? trace ?? .begin()
            if event.traceparent == nil { begun[id] = traceparent }
            event.traceparent = traceparent
            if context.spans.isOn, let step = context.spans.next(after: traceparent) {
                steps.append((event.type, step))
                event.traceparent = step.traceparent
            }
            return try OutboxEvent(event, at: plan.time, in: context.environment)
        }
        return (events, steps)
    }

    /// Changes ownerships and decides about the purchases that waited for them, until no change is
    /// left.
    ///
    /// Each round writes before it reads. Changing an ownership also locks it, so no further
    /// purchase can begin to wait for it, and no separate statement is needed for the lock.
    private mutating func passOnOwnerships(on connection: isolated PostgresConnection) throws {
        while true {
            let changes = plan.nextOwnershipChanges()
            guard !changes.isEmpty else { return }
            try OwnershipStore.change(changes, on: connection)
            let waiting = try AttemptStore.waiting(for: changes.map(\.holder), on: connection)
            guard !waiting.isEmpty else { continue }
            try lock(
                waiting.values.flatMap { $0 },
                withSubscriptions: false,
                on: connection
            )
            let keys = changes.filter { waiting[$0.holder] != nil }.map(\.key)
            let ownerships = try OwnershipStore.lock(keys, on: connection)
            let unowned = keys.filter { ownerships[$0]?.ownedAt == nil }
            let claims = plan.passOn(
                changes,
                to: waiting,
                ownerships: ownerships,
                standings: try connection.read(
                    AccountStore.standings(of: Set(unowned.map(\.accountKey)))
                )
            )
            _ = try OwnershipStore.claim(claims, on: connection)
        }
    }

    /// Plans the refunds that changes of subscriptions have booked.
    ///
    /// Their subscriptions are locked, so nobody else waits for these transactions and holds what this
    /// settlement needs.
    private mutating func addOwedRefunds(on connection: isolated PostgresConnection) throws {
        let owed = plan.subscriptions.nextRefunds()
        guard !owed.isEmpty else { return }
        let unknown = Set(owed.map(\.transactionID)).filter { plan.records[$0] == nil }
        if !unknown.isEmpty {
            try lock(Array(unknown), withSubscriptions: false, on: connection)
        }
        plan.addRefunds(owed)
    }

    private func log(_ contradiction: SettlementPlan.Contradiction) {
        Counter(label: "processor_contradictions").increment()
        var metadata: Logger.Metadata = ["transaction.id": "\(contradiction.transactionID)"]
        if let refusal = contradiction.refusal { metadata["refusal"] = "\(refusal)" }
        if let trace = contradiction.trace { metadata["trace"] = "\(trace)" }
        context.logger.error("\(contradiction.message)", metadata: metadata)
    }
}

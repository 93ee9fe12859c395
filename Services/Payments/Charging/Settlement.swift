import EventTypes
import Ledger
import Messaging
import Postgres

/// One database transaction of outcomes: loads and locks, applies, and stores at the end.
struct Settlement {
    let context: PaymentsContext
    let trace: TraceContext?
    let time: Timestamp

    var records: [TransactionID: TransactionRecord] = [:]
    var attempts: [AttemptKey: ProcessorAttempt] = [:]
    private var changedRecords: Set<TransactionID> = []
    private var changedAttempts: Set<AttemptKey> = []
    private var newAttempts: [ProcessorAttempt] = []
    var postings: [Posting] = []
    var events: [OutboxEvent] = []
    private var ownershipChanges: [OwnershipChange] = []
    var report = OutcomeReport()

    /// Begins one, at the present time.
    ///
    /// - Parameters:
    ///   - context: The service's own.
    ///   - trace: An administrator's, which becomes that of transactions of before there were traces.
    init(_ context: PaymentsContext, within trace: TraceContext? = nil) {
        self.context = context
        self.trace = trace
        time = context.now()
    }

    mutating func settle(
        _ results: [AttemptResult],
        on connection: isolated PostgresConnection
    ) throws -> OutcomeReport {
        try lock(Array(Set(results.map(\.key.transactionID))), on: connection)
        for result in results {
            try apply(result)
        }
        return try store(on: connection)
    }

    /// Loads and locks transactions with all their attempts: two statements.
    mutating func lock(
        _ ids: [TransactionID],
        on connection: isolated PostgresConnection
    ) throws {
        records.merge(try TransactionStore.lock(ids, on: connection)) { _, new in new }
        attempts.merge(try AttemptStore.lock(of: ids, on: connection)) { _, new in new }
    }

    /// Applies a command to a locked transaction and notes everything that follows from it.
    @discardableResult
    mutating func apply(
        _ command: TransactionCommand,
        to id: TransactionID
    ) throws -> TransactionMove {
        guard let record = records[id] else { return .refused(.stateUnknown) }
        let machine = TransactionStateMachine(time: time, postingID: PostingID(time: time))
        let move = machine.apply(command, to: record)
        guard case .moved(let moved, let type, let posting) = move else { return move }
        records[id] = moved
        changedRecords.insert(id)
        let kind = OutcomeReport.Move(type: type, reason: moved.transaction.failureReason)
        report.moves[kind, default: 0] += 1
        if let posting { postings.append(posting) }
        events.append(
            try OutboxEvent(
                TransactionEvent(
                    transaction: moved.transaction,
                    type: type,
                    posting: posting.map { PostingReference($0, of: moved) },
                    traceparent: step(type, of: moved)
                ),
                at: time,
                in: context.environment
            )
        )
        if let change = OwnershipRules.change(by: moved, at: time) {
            ownershipChanges.append(change)
        }
        return move
    }

    /// The trace context of an event: a step of its transaction's trace, whoever it waited for.
    mutating func step(_ type: EventType, of record: TransactionRecord) -> String? {
        let traceparent = record.traceparent ?? beginTrace(of: record.transaction.id)
        guard context.spans.isOn, let step = context.spans.next(after: traceparent) else { return traceparent }
        report.steps.append((type, step))
        return step.traceparent
    }

    /// The trace of a transaction of before there were traces.
    private mutating func beginTrace(of id: TransactionID) -> String {
        let traceparent = records[id]?.traceparent ?? (trace ?? .begin()).description
        records[id]?.traceparent = traceparent
        return traceparent
    }

    /// Replaces an attempt that is locked.
    mutating func change(_ key: AttemptKey, _ change: (inout ProcessorAttempt) -> Void) {
        guard var attempt = attempts[key] else { return }
        change(&attempt)
        attempts[key] = attempt
        changedAttempts.insert(key)
    }

    /// Replaces a transaction's own notes without a new version of what is published.
    mutating func annotate(_ id: TransactionID, _ change: (inout TransactionRecord) -> Void) {
        guard var record = records[id] else { return }
        change(&record)
        records[id] = record
        changedRecords.insert(id)
    }

    /// Adds an attempt, which this process carries out.
    mutating func add(_ attempt: ProcessorAttempt) {
        newAttempts.append(attempt)
        report.followUps.append(attempt)
    }

    /// Has this process carry out an attempt.
    mutating func call(_ key: AttemptKey) {
        let leaseEnd = time.advanced(by: context.policy.lease)
        change(key) { attempt in
            attempt.step = .calling
            attempt.waitsFor = nil
            attempt.dueAt = leaseEnd
        }
        if let attempt = attempts[key] { report.followUps.append(attempt) }
    }

    /// Writes everything that was noted.
    ///
    /// The outbox comes last, as it asks for.
    mutating func store(on connection: isolated PostgresConnection) throws -> OutcomeReport {
        try settleOwnerships(on: connection)
        try TransactionStore.update(
            changedRecords.sorted().compactMap { records[$0] },
            on: connection
        )
        try AttemptStore.update(
            changedAttempts.sorted().compactMap { attempts[$0] },
            owner: context.owner,
            on: connection
        )
        try AttemptStore.insert(newAttempts, owner: context.owner, on: connection)
        try LedgerStore.append(postings, on: connection)
        try Outbox.append(events, on: connection)
        return report
    }

    /// Moves ownerships, and with them whoever waits: where somebody owns by now, be it another that
    /// has overtaken the one they waited for, they are granted without a charge; otherwise the oldest
    /// of those that may still be charged is charged in its place.
    private mutating func settleOwnerships(on connection: isolated PostgresConnection) throws {
        while !ownershipChanges.isEmpty {
            let changes = nextOwnershipChanges()
            try OwnershipStore.change(changes, on: connection)
            let waiting = try AttemptStore.waiting(for: changes.map(\.holder), on: connection)
            guard !waiting.isEmpty else { continue }
            try lock(waiting.values.flatMap { $0 }, on: connection)
            let owners = try OwnershipStore.owners(
                of: changes.filter { waiting[$0.holder] != nil }.map(\.key),
                on: connection
            )
            for change in changes {
                guard let waiters = waiting[change.holder] else { continue }
                if let owner = owners[change.key], let ownedAt = owner.ownedAt {
                    for waiter in waiters {
                        try grant(waiter, owner.holder, ownedAt)
                    }
                } else {
                    try charge(waiters, change.key, on: connection)
                }
            }
        }
    }

    /// Takes the first change of each ownership; a statement makes one of each.
    private mutating func nextOwnershipChanges() -> [OwnershipChange] {
        var keys: Set<OwnershipKey> = []
        let next = ownershipChanges.filter { keys.insert($0.key).inserted }
        keys = []
        ownershipChanges.removeAll { keys.insert($0.key).inserted }
        return next
    }

    /// Charges the first of those who waited for an ownership that nobody has, and has the others wait
    /// for it; where somebody else is being charged for it by now, all of them wait for that one.
    ///
    /// They were accepted long ago: whose account may not pay by now, or has moved to another
    /// storefront, is not charged after all (spec rules 2 and 9). They are not judged by the price
    /// or by whether the product is still sold, as an interrupted payment is
    /// (``PaymentRules/request(repeating:by:)``): that one has failed, and taking it up is a payment
    /// of its own. These were accepted at a price that the buyer has seen and the store has
    /// confirmed, they never failed, and the buyer has nothing to do to be charged; what changes in
    /// the catalog after a payment is accepted is for the next one (spec rule X8, traps 25 and 26),
    /// here as for a charge whose answer takes long and for an approval that comes a day later.
    private mutating func charge(
        _ waiters: [TransactionID],
        _ key: OwnershipKey,
        on connection: isolated PostgresConnection
    ) throws {
        let account = AccountKey(accountID: key.accountID, bundleID: key.bundleID)
        let standing =
            try AccountStore.standings(of: [account], on: connection)[account] ?? AccountStanding()
        var holder: TransactionID?
        for waiter in waiters {
            guard let storefront = records[waiter]?.transaction.storefront else { continue }
            let attempt = AttemptKey(transactionID: waiter, kind: .charge)
            if let reason = AccountRules.failure(of: standing, in: storefront) {
                try apply(.fail(reason), to: waiter)
                change(attempt) { $0.settle(reason.rawValue) }
                continue
            }
            let held = try holder ?? claim(key, for: waiter, on: connection)
            holder = held
            if held == waiter {
                call(attempt)
            } else {
                change(attempt) { $0.waitsFor = held }
            }
        }
    }

    private mutating func grant(
        _ waiter: TransactionID,
        _ originalID: TransactionID,
        _ ownedAt: Timestamp
    ) throws {
        try apply(
            .grantOwned(originalID: originalID, originalPurchasedAt: ownedAt),
            to: waiter
        )
        change(AttemptKey(transactionID: waiter, kind: .charge)) { $0.settle("granted") }
    }

    /// Claims an ownership, and says who holds it: whoever did already, if somebody did.
    private func claim(
        _ key: OwnershipKey,
        for id: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> TransactionID {
        try OwnershipStore.claim([(key, id)], on: connection)[key]?.holder ?? id
    }
}

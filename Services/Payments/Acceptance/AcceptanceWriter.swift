import EventTypes
import Messaging
import Postgres

/// Writes accepted payments in the caller's database transaction.
///
/// It claims the ownerships of non-consumables, lets ``AcceptancePlan`` decide, and writes the
/// plan.
struct AcceptanceWriter {
    let context: PaymentsContext

    /// Writes payments.
    ///
    /// - Parameters:
    ///   - acceptances: The payments.
    ///   - more: Events to append after those of the payments.
    ///   - time: The time of acceptance.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The written payments, each with the body of its answer.
    /// - Throws: `PostgresError`; `EncodingError`; ``PaymentError``.
    func write(
        _ acceptances: [Acceptance],
        followedBy more: [OutboxEvent] = [],
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [Acceptance] {
        guard !acceptances.isEmpty else { return [] }
        let holders = try OwnershipStore.claim(
            acceptances.filter(\.record.isOwnable).map {
                ($0.record.ownershipKey, $0.record.transaction.id)
            },
            on: connection
        )
        let plan = try AcceptancePlan(
            acceptances,
            meeting: holders,
            drawing: context.ids,
            at: time
        )
        try OwnershipStore.change(plan.ownershipChanges, on: connection)
        let keys = plan.acceptances.compactMap { acceptance in
            acceptance.key.map { (acceptance.record.transaction.id, $0) }
        }
        let records = plan.acceptances.map(\.record)
        try TransactionStore.insert(
            records,
            under: Dictionary(uniqueKeysWithValues: keys),
            on: connection
        )
        try AttemptStore.insert(
            plan.acceptances.compactMap(\.attempt),
            owner: context.owner,
            calledFrom: context.machineNow(),
            on: connection
        )
        try FamilyWorkStore.note(records, on: connection)
        let events = try plan.events.map {
            try OutboxEvent($0, at: time, in: context.environment)
        }
        try Outbox.append(events + more, on: connection)
        var written = plan.acceptances
        let begun = events.filter { $0.type == .transactionPurchasing }
        for (index, event) in zip(written.indices, begun) { written[index].body = event.data }
        return written
    }
}

import EventTypes
import Messaging
import Postgres

/// Writes accepted payments, within the database transaction of whoever accepts them: claims what
/// they would own, has ``AcceptancePlan`` decide, and writes it.
struct AcceptanceWriter {
    let context: PaymentsContext

    /// Writes payments.
    ///
    /// - Parameters:
    ///   - acceptances: The payments.
    ///   - more: Events that follow theirs.
    ///   - time: When they are accepted.
    ///   - connection: In a database transaction.
    /// - Returns: The payments as they were written, each with the body of its answer.
    /// - Throws: `PostgresError`; `EncodingError`.
    func write(
        _ acceptances: [Acceptance],
        followedBy more: [OutboxEvent] = [],
        at time: Timestamp,
        on connection: isolated PostgresConnection
    ) throws -> [Acceptance] {
        guard !acceptances.isEmpty else { return [] }
        let holders = try OwnershipStore.claim(
            acceptances.filter(\.record.isOwnable).map {
                ($0.record.ownershipKey, $0.record.transaction.id)
            },
            on: connection
        )
        let plan = AcceptancePlan(acceptances, meeting: holders, at: time)
        try OwnershipStore.change(plan.ownershipChanges, on: connection)
        try TransactionStore.insert(plan.acceptances.map(\.record), on: connection)
        try AttemptStore.insert(
            plan.acceptances.compactMap(\.attempt),
            owner: context.owner,
            on: connection
        )
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

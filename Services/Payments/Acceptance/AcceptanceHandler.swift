import EventTypes
import Ledger
import Messaging
import Postgres

/// Writes accepted payments, within the database transaction of whoever accepts them: ownerships,
/// transactions, attempts and events together.
struct AcceptanceHandler {
    let context: PaymentsContext

    /// A transaction in `purchasing`, with the attempt to charge it or the reason why it costs
    /// nothing.
    func acceptance(
        of record: TransactionRecord,
        by paymentMethod: String,
        at time: Timestamp,
        position: Int = 0
    ) -> Acceptance {
        guard !record.transaction.price.isZero else {
            return Acceptance(position: position, record: record, grant: .grantFree)
        }
        let attempt = ProcessorAttempt(
            transactionID: record.transaction.id,
            kind: .charge,
            id: AttemptID(time: time),
            step: .calling,
            paymentMethod: paymentMethod,
            amount: record.transaction.price,
            dueAt: time.advanced(by: context.policy.lease)
        )
        return Acceptance(position: position, record: record, attempt: attempt)
    }

    /// Writes payments, and gives each the body of its answer.
    ///
    /// What is granted at once passes through `purchasing` like everything else, within the same
    /// database transaction. `more` are events that follow those of the payments.
    func write(
        _ acceptances: inout [Acceptance],
        followedBy more: [OutboxEvent] = [],
        at time: Timestamp,
        on connection: isolated PostgresConnection
    ) throws {
        guard !acceptances.isEmpty else { return }
        try claimOwnerships(&acceptances, time, on: connection)
        var events: [OutboxEvent] = []
        events.reserveCapacity(acceptances.count)
        for index in acceptances.indices {
            let event = try OutboxEvent(
                acceptances[index].record.transaction,
                .transactionPurchasing,
                at: time,
                in: context.environment,
                purchaseIntentID: acceptances[index].purchaseIntentID,
                resumes: acceptances[index].resumes,
                traceparent: acceptances[index].record.traceparent
            )
            acceptances[index].body = event.data
            events.append(event)
            guard let grant = acceptances[index].grant else { continue }
            let machine = TransactionStateMachine(time: time, postingID: PostingID(time: time))
            if case .moved(let record, let type, _) = machine.apply(
                grant,
                to: acceptances[index].record
            ) {
                acceptances[index].record = record
                events.append(
                    try OutboxEvent(
                        record.transaction,
                        type,
                        at: time,
                        in: context.environment,
                        traceparent: record.traceparent
                    )
                )
            }
        }
        try TransactionStore.insert(acceptances.map(\.record), on: connection)
        try AttemptStore.insert(
            acceptances.compactMap(\.attempt),
            owner: context.owner,
            on: connection
        )
        try Outbox.append(events + more, on: connection)
    }

    /// Of non-consumables, what is owned already is granted without a charge, and what is being
    /// bought by another transaction waits for its outcome.
    private func claimOwnerships(
        _ acceptances: inout [Acceptance],
        _ time: Timestamp,
        on connection: isolated PostgresConnection
    ) throws {
        let claims = acceptances.filter(\.record.isOwnable)
        guard !claims.isEmpty else { return }
        var holders = try OwnershipStore.claim(
            claims.map { ($0.record.ownershipKey, $0.record.transaction.id) },
            on: connection
        )
        var ownedAtOnce: [OwnershipStore.Change] = []
        for index in acceptances.indices where acceptances[index].record.isOwnable {
            let record = acceptances[index].record
            let id = record.transaction.id
            guard let ownership = holders[record.ownershipKey] else { continue }
            if let ownedAt = ownership.ownedAt {
                acceptances[index].record.transaction.originalID = ownership.holder
                acceptances[index].record.transaction.price = .zero(
                    record.transaction.price.currency
                )
                acceptances[index].attempt = nil
                acceptances[index].grant = .grantOwned(
                    originalID: ownership.holder,
                    originalPurchasedAt: ownedAt
                )
            } else if acceptances[index].grant != nil {
                // It costs nothing: it owns at once, also before one that is still being charged.
                holders[record.ownershipKey] = Ownership(holder: id, ownedAt: time)
                ownedAtOnce.append(.init(key: record.ownershipKey, holder: id, ownedAt: time))
            } else if ownership.holder != id {
                acceptances[index].attempt?.step = .waiting
                acceptances[index].attempt?.waitsFor = ownership.holder
                acceptances[index].attempt?.dueAt = nil
            }
        }
        try OwnershipStore.change(ownedAtOnce, on: connection)
    }
}

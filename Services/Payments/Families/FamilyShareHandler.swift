import EventTypes
import Messaging
import Postgres
import StoreTracing

/// Gives the members of families what the others share, and takes it away again.
///
/// It compares what is with what should be, so it does not matter what changed, or how often it looks:
/// a purchase, a refund, a member or a product. Each look is one database transaction, which also
/// deletes the note that asked for it.
struct FamilyShareHandler: Sendable {
    let context: PaymentsContext
    /// Called after a commit that appended events to the outbox.
    let didCommit: @Sendable () -> Void
    /// The most shares that one look makes, and the most that it takes away.
    var limit = 100

    /// Looks at the shares of one account whose purchases or family have changed.
    ///
    /// - Returns: Whether there was such an account.
    /// - Throws: `PostgresError`, or an error of what is read or written.
    func carryOutNext() async throws -> Bool {
        let (isFound, hasEvents) = try await context.client.withTransaction {
            [self] connection -> (Bool, Bool) in
            guard let account = try FamilyWorkStore.take(on: connection) else {
                return (false, false)
            }
            return (true, try carryOut(around: account, on: connection))
        }
        if hasEvents { didCommit() }
        return isFound
    }

    /// Takes away what is shared around an account and should not be, and gives what is missing.
    ///
    /// - Returns: Whether anything changed.
    private func carryOut(
        around account: AccountKey,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try FamilyShareStore.lockFamily(of: account, on: connection)
        let time = context.now()
        let surplus = try FamilyShareStore.surplus(
            around: account,
            at: time,
            limit: limit,
            on: connection
        )
        let revoked = try connection.read(TransactionStore.locking(surplus)).values
            .sorted { $0.transaction.id < $1.transaction.id }
            .compactMap { FamilyShareRules.revoked($0, at: time, drawing: context.ids) }
        // A share that is replaced is taken away first, so the new one is missing then.
        try TransactionStore.update(revoked, on: connection)
        let missing = try FamilyShareStore.missing(
            around: account,
            at: time,
            limit: limit,
            on: connection
        )
        guard !surplus.isEmpty || !missing.isEmpty else { return false }
        let shared = try share(missing, at: time, on: connection)
        try TransactionStore.insert(shared, on: connection)
        // What did not fit is looked at again.
        if max(surplus.count, missing.count) == limit {
            try FamilyWorkStore.note([account], on: connection)
        }
        try Outbox.append(
            try revoked.map { try event($0, .transactionRefunded, at: time) }
                + shared.map { try event($0, .transactionPurchased, at: time) },
            on: connection
        )
        return true
    }

    private func share(
        _ missing: [FamilyShareStore.Missing],
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [TransactionRecord] {
        let purchases = try TransactionStore.load(
            Array(Set(missing.map(\.purchaseID))),
            on: connection
        )
        let ids = try connection.read(TransactionStore.nextIDs(missing.count))
        return zip(ids, missing).compactMap { id, missing in
            purchases[missing.purchaseID].map {
                FamilyShareRules.share(of: $0, with: missing.member, as: id, at: time)
            }
        }
    }

    private func event(
        _ record: TransactionRecord,
        _ type: EventType,
        at time: StoreTime
    ) throws -> OutboxEvent {
        try OutboxEvent(
            TransactionEvent(
                transaction: record.transaction,
                type: type,
                traceparent: record.traceparent ?? .begin()
            ),
            at: time,
            in: context.environment
        )
    }
}

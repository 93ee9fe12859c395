import EventTypes
import Logging
import Messaging
import Postgres
import StoreTracing

/// Gives the members of families what the others share, lets it follow the purchases, and takes it away
/// again.
///
/// It compares what is with what should be, so it does not matter what changed, or how often it looks:
/// a purchase, a refund, a member or a product. Each look is one database transaction, which also
/// deletes the note that asked for it.
struct FamilyShareHandler: Sendable {
    let context: PaymentsContext
    /// Called after a commit that appended events to the outbox.
    let didCommit: @Sendable () -> Void
    /// The most shares that one look makes, the most that it changes, and the most that it takes away.
    var limit = 100
    /// The accounts whose shares could not be looked at.
    let failed = FailedWork<AccountKey>(of: "families")

    /// Looks at the shares of one account whose purchases or family have changed.
    ///
    /// If that cannot be done because of a broken row, the account is left alone for a while, and the
    /// next one has its turn. Its note stays, so no purchase of it is forgotten.
    ///
    /// - Returns: Whether there was such an account.
    /// - Throws: `PostgresError`, or an error of what is read or written.
    func carryOutNext() async throws -> Bool {
        let left = failed.current()
        do {
            return try await carryOut { try FamilyWorkStore.take(besides: left, on: $0) }
        } catch let error where RowError.matches(error) {
            let next = try await context.client.withConnection { connection in
                try FamilyWorkStore.next(besides: left, on: connection)
            }
            guard let account = next else { return false }
            try await carryOut(alone: account)
            return true
        }
    }

    /// Looks at the shares of an account, and leaves it alone for a while if that cannot be done.
    private func carryOut(alone account: AccountKey) async throws {
        do {
            _ = try await carryOut { try FamilyWorkStore.take(of: account, on: $0) }
            failed.forget(account)
        } catch let error where RowError.matches(error) {
            failed.leaveAlone(
                account,
                because: error,
                [
                    "work": "shares of a family", "account.id": "\(account.accountID)",
                    "bundle.id": "\(account.bundleID)",
                ],
                in: context.logger
            )
        }
    }

    /// Looks at the shares of the account that is taken, in one database transaction.
    private func carryOut(
        _ take:
            @escaping @Sendable (isolated PostgresConnection) throws -> AccountKey?
    ) async throws -> Bool {
        let (isFound, hasEvents) = try await context.client.withTransaction {
            [self] connection -> (Bool, Bool) in
            guard let account = try take(connection) else { return (false, false) }
            return (true, try carryOut(around: account, on: connection))
        }
        if hasEvents { didCommit() }
        return isFound
    }

    /// Takes away what is shared around an account and should not be, changes what has become different,
    /// and gives what is missing.
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
        // The share of a period that an upgrade has ended is taken away first.
        try TransactionStore.update(revoked, on: connection)
        let behind = try FamilyShareStore.behind(around: account, limit: limit, on: connection)
        let followed = try follow(behind, at: time, on: connection)
        let missing = try FamilyShareStore.missing(
            around: account,
            at: time,
            limit: limit,
            on: connection
        )
        guard !surplus.isEmpty || !behind.isEmpty || !missing.isEmpty else { return false }
        let shared = try share(missing, at: time, on: connection)
        try TransactionStore.insert(shared, on: connection)
        guard !revoked.isEmpty || !followed.isEmpty || !shared.isEmpty else { return false }
        // What did not fit is looked at again. After a look that changed nothing, the next one would find
        // the same, again and again.
        if max(surplus.count, behind.count, missing.count) == limit {
            try FamilyWorkStore.note([account], on: connection)
        }
        try Outbox.append(
            try revoked.map { try event($0, .transactionRefunded, at: time) }
                + followed.map { try event($0, .transactionExtended, at: time) }
                + shared.map { try event($0, .transactionPurchased, at: time) },
            on: connection
        )
        return true
    }

    /// Changes shares in place.
    private func follow(
        _ behind: [FamilyShareStore.Behind],
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [TransactionRecord] {
        let records = try connection.read(TransactionStore.locking(behind.map(\.id)))
        let followed = behind.compactMap { share in
            records[share.id].flatMap {
                FamilyShareRules.followed($0, share, at: time, drawing: context.ids)
            }
        }
        try TransactionStore.update(followed, on: connection)
        return followed
    }

    /// Makes shares, those of older purchases first.
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
        // Two periods of one subscription may be shared in one look.
        var made: [Chain: FamilyShareStore.EarlierShare] = [:]
        return zip(ids, missing).compactMap { id, missing in
            purchases[missing.purchaseID].map { purchase in
                let chain = Chain(
                    subscription: purchase.transaction.originalID,
                    member: missing.member
                )
                let share = FamilyShareRules.share(
                    of: purchase,
                    with: missing.member,
                    as: id,
                    after: purchase.transaction.subscription == nil
                        ? nil : made[chain] ?? missing.earlier,
                    standing: missing.standing,
                    at: time
                )
                made[chain] = FamilyShareStore.EarlierShare(share.transaction)
                return share
            }
        }
    }

    /// The shares that a member has of one subscription.
    private struct Chain: Hashable {
        let subscription: TransactionID
        let member: AccountID
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

extension FamilyShareStore.EarlierShare {
    /// A share that was made a moment ago.
    fileprivate init(_ share: Transaction) {
        self.init(
            originalID: share.originalID,
            originalPurchasedAt: share.originalPurchasedAt,
            sharedFrom: share.sharedFrom,
            isRevoked: false,
            state: share.subscription?.shared?.state
        )
    }
}

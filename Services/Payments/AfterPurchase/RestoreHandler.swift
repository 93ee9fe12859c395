import EventTypes
import Messaging
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing

/// Restores what an account owns (spec rules 62 to 72).
///
/// One database transaction makes a new transaction for each finished, unrevoked, restorable
/// purchase.
///
/// A new restore makes new transactions again (X4). A repeated request under the same key gets the
/// same ones.
struct RestoreHandler: Sendable {
    /// The maximum number of transactions in one restore.
    static let countMax = 10_000

    let context: PaymentsContext
    let didCommit: @Sendable () -> Void

    func restore(
        _ request: RestoreRequest,
        _ account: AuthenticatedAccount,
        key: IdempotencyKey,
        trace: TraceContext
    ) async throws -> RestoreReply {
        let reply: RestoreReply
        do {
            reply = try await perform(request, account, key: key, trace: trace)
        } catch let error as PaymentError where error.code == .keyTaken {
            // The restore of the other request under the key is visible by now.
            reply = try await perform(request, account, key: key, trace: trace)
        }
        if case .restored(_, isReplay: false) = reply { didCommit() }
        return reply
    }

    private func perform(
        _ request: RestoreRequest,
        _ account: AuthenticatedAccount,
        key: IdempotencyKey,
        trace: TraceContext
    ) async throws -> RestoreReply {
        try await context.takingKeys { connection in
            try restore(request, account, key: key, trace, context.now(), on: connection)
        }
    }

    private func restore(
        _ request: RestoreRequest,
        _ account: AuthenticatedAccount,
        key: IdempotencyKey,
        _ trace: TraceContext,
        _ time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> RestoreReply {
        let key = RequestKey(accountID: account.accountID, idempotencyKey: key)
        let fingerprint = RequestFingerprint.of(request, in: account.bundleID)
        if let reply = try Self.replay(key, fingerprint, on: connection) { return reply }

        let originals = try TransactionStore.restorable(
            (account.accountID, account.bundleID),
            applicationUsername: request.applicationUsername,
            productIDs: request.productIDs,
            limit: Self.countMax + 1,
            on: connection
        )
        guard originals.count <= Self.countMax else {
            return .tooMany(max: Self.countMax)
        }
        let ids = try connection.read(TransactionStore.nextIDs(originals.count))
        guard try RestoreStore.take(key, fingerprint, for: ids, at: time, on: connection) else {
            throw PaymentError(.keyTaken)
        }
        // All transactions of a restore belong to the trace of the request.
        let records = zip(ids, originals).map { id, original in
            TransactionRecord(
                transaction: PaymentRules.restored(
                    id: id,
                    original: original.transaction,
                    time: time
                ),
                taxBasisPoints: original.taxBasisPoints,
                traceparent: trace
            )
        }
        // The first transaction has the key, so that no payment can have it too.
        let used = UsedKey(idempotencyKey: key.idempotencyKey, fingerprint: fingerprint)
        let keys = ids.first.map { [$0: used] } ?? [:]
        try TransactionStore.insert(records, under: keys, on: connection)
        try Outbox.append(
            records.map {
                let event = TransactionEvent(
                    transaction: $0.transaction,
                    type: .transactionRestored,
                    traceparent: trace
                )
                return try OutboxEvent(event, at: time, in: context.environment)
            },
            on: connection
        )
        return .restored(records.map(\.transaction), isReplay: false)
    }

    /// Returns the first answer under the key; `nil` if the key was not used.
    private static func replay(
        _ key: RequestKey,
        _ fingerprint: [UInt8],
        on connection: isolated PostgresConnection
    ) throws -> RestoreReply? {
        guard let use = try RestoreStore.find(key, on: connection) else {
            let made = try connection.read(
                TransactionStore.made(under: [(key.accountID, key.idempotencyKey)])
            )
            guard let other = made.first else { return nil }
            // The same restore was committed between the two looks: the next try finds it.
            guard other.key.fingerprint != fingerprint else { throw PaymentError(.keyTaken) }
            return .keyReused
        }
        guard use.fingerprint == fingerprint else { return .keyReused }
        // A restored transaction never changes, so the rows still hold the first answer.
        let records = try TransactionStore.load(use.transactionIDs, on: connection)
        return .restored(
            use.transactionIDs.compactMap { records[$0]?.transaction },
            isReplay: true
        )
    }
}

import ClockAndIDs
import EventTypes
import Messaging
import Postgres
import StoreAPI
import StoreTracing

/// Changes accounts, and begins and ends their purchase intents.
///
/// Each change is one database transaction, which locks the account and appends its event.
///
/// Repeating a request gets the same answer and changes nothing.
struct AccountHandler: Sendable {
    let client: PostgresClient
    let products: ProductStore
    let now: @Sendable () -> StoreTime
    /// Called after a commit that appended events to the outbox.
    let didCommit: @Sendable () -> Void

    /// The effect of a request on an account.
    private enum Effect<Answer: Sendable>: Sendable {
        case refused(AccountRefusal)
        /// The request was made before; nothing changes.
        case none(Answer)
        case changed(Answer)
    }

    /// Thrown to roll back a request that changes nothing, so that the row that it locked does not
    /// stay behind without an event.
    private struct NoChange<Answer: Sendable>: Error {
        let result: Result<(account: Account, answer: Answer), AccountRefusal>
    }

    /// Reads an account.
    func account(_ key: AccountKey) async throws -> Account {
        try await client.withConnection { connection in
            try Self.load(key, on: connection)
        }
    }

    /// Changes whether an account may pay, and in which storefront it buys.
    func change(
        _ id: AccountID,
        _ change: AccountChangeRequest,
        by act: Act?,
        trace: TraceContext
    ) async throws -> Result<Account, AccountRefusal> {
        let key = AccountKey(accountID: id, bundleID: change.bundleID)
        return try await perform(on: key, makesAccount: true, by: act, trace) {
            account,
            _,
            connection -> Effect<Void> in
            switch AccountRules.apply(change, to: account) {
            case .failure(let refusal): return .refused(refusal)
            case .success(account): return .none(())
            case .success(let changed):
                try AccountStore.change(changed, on: connection)
                return .changed(())
            }
        }.map(\.account)
    }

    /// Begins a purchase intent for an account, once for each key.
    func begin(
        _ request: PurchaseIntentRequest,
        for id: AccountID,
        idempotencyKey: IdempotencyKey,
        trace: TraceContext
    ) async throws -> Result<PurchaseIntent, AccountRefusal> {
        let key = AccountKey(accountID: id, bundleID: request.bundleID)
        return try await perform(on: key, makesAccount: true, trace) {
            account,
            time,
            connection -> Effect<PurchaseIntent> in
            let earlier = try PurchaseIntentStore.find(
                begunWith: idempotencyKey,
                of: key,
                on: connection
            )?.intent
            let known = try connection.read(products.load([request.productID], at: time))
            let verdict = AccountRules.beginning(
                request,
                after: earlier,
                for: account,
                product: known[request.productID]
            )
            switch verdict {
            case .refused(let refusal): return .refused(refusal)
            case .begun(let intent): return .none(intent)
            case .begin:
                let intent = PurchaseIntent(
                    id: PurchaseIntentID(time: time),
                    productID: request.productID,
                    quantity: request.quantity,
                    createdAt: time
                )
                try PurchaseIntentStore.insert(
                    intent,
                    of: key,
                    idempotencyKey: idempotencyKey,
                    on: connection
                )
                return .changed(intent)
            }
        }.map(\.answer)
    }

    /// Declines a purchase intent for good; one that has ended stays as it is.
    func decline(
        _ id: PurchaseIntentID,
        by key: AccountKey,
        trace: TraceContext
    ) async throws -> Result<Account, AccountRefusal> {
        try await perform(on: key, makesAccount: false, trace) {
            _,
            time,
            connection -> Effect<Void> in
            let row = try PurchaseIntentStore.find(id, of: key, on: connection)
            switch AccountRules.declining(hasEnded: row?.hasEnded) {
            case .refused(let refusal): return .refused(refusal)
            case .ended: return .none(())
            case .decline:
                try PurchaseIntentStore.end([(id, nil)], at: time, on: connection)
                return .changed(())
            }
        }.map(\.account)
    }

    /// Locks an account, lets the body change it, and publishes the result.
    ///
    /// An account that is not in the table gets a row only if `makesAccount` and the body changes
    /// it. A request that is refused or changes nothing is rolled back.
    private func perform<Answer: Sendable>(
        on key: AccountKey,
        makesAccount: Bool,
        by act: Act? = nil,
        _ trace: TraceContext,
        _ body:
            @escaping @Sendable (Account, StoreTime, isolated PostgresConnection) throws
            -> Effect<Answer>
    ) async throws -> Result<(account: Account, answer: Answer), AccountRefusal> {
        do {
            let changed = try await client.withTransaction {
                [now] connection -> (account: Account, answer: Answer) in
                let time = now()
                if makesAccount {
                    try AccountStore.lock(key, on: connection)
                } else {
                    try AccountStore.lockExisting([key], on: connection)
                }
                let account = try Self.load(key, on: connection)
                switch try body(account, time, connection) {
                case .refused(let refusal): throw NoChange<Answer>(result: .failure(refusal))
                case .none(let answer):
                    throw NoChange<Answer>(result: .success((account, answer)))
                case .changed(let answer):
                    let changed = try Self.publish(key, by: act, at: time, trace, on: connection)
                    return (changed, answer)
                }
            }
            didCommit()
            return .success(changed)
        } catch let noChange as NoChange<Answer> {
            return noChange.result
        }
    }

    /// Gives a changed account its next version, and appends its event.
    private static func publish(
        _ key: AccountKey,
        by act: Act?,
        at time: StoreTime,
        _ trace: TraceContext,
        on connection: isolated PostgresConnection
    ) throws -> Account {
        try AccountStore.raise([key], on: connection)
        let changed = try load(key, on: connection)
        let event = try OutboxEvent(changed, by: act, at: time, traceparent: trace)
        try Outbox.append([event], on: connection)
        return changed
    }

    private static func load(
        _ key: AccountKey,
        on connection: isolated PostgresConnection
    ) throws -> Account {
        try AccountStore.load([key], on: connection)[key]
            ?? Account(accountID: key.accountID, bundleID: key.bundleID)
    }
}

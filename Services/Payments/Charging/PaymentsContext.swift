import EventTypes
import Logging
import Messaging
import Postgres
import StoreTracing
import Subscriptions

/// The dependencies shared by the parts that accept, charge and settle payments.
struct PaymentsContext: Sendable {
    let client: PostgresClient
    let policy: AttemptPolicy
    let owner: LeaseOwner
    let environment: StoreEnvironment
    /// Whether the sandbox's own processor charges, whose outcomes tests decide.
    var simulatesCharges = true
    /// Whether consumables that are paid back stay with their buyers, by the settings of the store.
    var leavesRefundedConsumables = false
    /// Decides about subscriptions, by the settings of the store.
    let subscriptions: SubscriptionStateMachine
    var ids: IDSource = .random
    var spans: SpanRecorder = .off
    let logger: Logger
    /// Returns the store's time.
    let now: @Sendable () -> StoreTime
    /// Returns the machines' time, by the clock that all instances share.
    let machineNow: @Sendable () -> MachineTime
    /// Lets this process follow a clock that is committed, whose event may not have come here yet.
    var followClock: @Sendable (FollowedClock) -> Void = { _ in }

    /// The end of a lease that begins at this moment.
    var leaseEnd: MachineTime { machineNow().advanced(by: policy.lease) }

    /// The accounts whose charges a test may decide: all of the sandbox's own processor, and none
    /// otherwise.
    func testedAccounts(_ keys: Set<AccountKey>) -> Set<AccountKey> {
        environment == .sandbox && simulatesCharges ? keys : []
    }

    /// Writes locked subscriptions, each with its next due action.
    ///
    /// In a sandbox the store's clock stands until the database transaction ends. Otherwise an advance
    /// that does not see the action yet could pass over it. If another instance has just moved the
    /// clock, this one follows it at once, so the database transaction runs again at the new time.
    ///
    /// The family of a buyer follows what happens to a subscription that is not paid. What is paid is
    /// noted with its transaction.
    ///
    /// - Parameters:
    ///   - rows: The subscriptions.
    ///   - documents: The JSON of those that are encoded already.
    ///   - time: The time by which they were decided.
    ///   - connection: A connection in a database transaction.
    /// - Throws: `PostgresError` with the code `serializationFailure` if the clock has moved since
    ///   `time`, so that the database transaction runs again; or an error of what is written.
    func save(
        _ rows: [SubscriptionRow],
        encodedAs documents: [SubscriptionKey: [UInt8]] = [:],
        decidedAt time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        if environment == .sandbox, rows.contains(where: { $0.subscription != nil }) {
            try ClockStore.holdClock(at: time, on: connection, follow: followClock)
        }
        try SubscriptionStore.save(
            rows,
            encodedAs: documents,
            by: subscriptions.dueActions,
            on: connection
        )
        try FamilyWorkStore.noteUnpaid(rows.lazy.compactMap(\.subscription), on: connection)
    }

    /// The constraints that a request meets if another has just taken its key, nonce or code.
    private static let takenOnce: Set<String> = [
        TransactionStore.keyIndex, OfferNonceStore.index, CodeStore.countConstraint,
        CodeStore.accountConstraint,
    ]

    /// Runs a body that uses idempotency keys between BEGIN and COMMIT.
    ///
    /// - Throws: `PaymentError` with the code `keyTaken` if another request has taken one of the keys,
    ///   or of the nonces or codes, at this moment; any other error of the body or of COMMIT.
    func takingKeys<R: Sendable>(
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> R
    ) async throws -> R {
        do {
            return try await client.withTransaction(body)
        } catch let error as PostgresError
            where Self.takenOnce.contains(error.constraint ?? "")
        {
            throw PaymentError(.keyTaken)
        }
    }

    /// Records the spans of committed steps.
    func record(_ steps: [(type: EventType, step: SpanStep)], from start: UInt64) {
        guard spans.isOn else { return }
        let end = Span.clock()
        spans.record(
            steps.compactMap { $1.span($0.rawValue, from: start, to: end) }
        )
    }
}

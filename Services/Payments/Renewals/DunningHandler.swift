import EventTypes
import Postgres
import StoreAPI
import StoreTracing
import Subscriptions

/// Charges for what subscriptions owe as soon as their buyer has a card that may pay it.
///
/// Otherwise a buyer who has given another card would wait for the next try, which may be days away.
struct DunningHandler: Sendable {
    let renewals: RenewalHandler
    /// Has the processor end charges that wait for their buyers.
    let endCharges: @Sendable ([ProcessorAttempt]) async -> Void

    /// The subscriptions of an account that could not be charged, locked.
    ///
    /// They are locked before a payment method is written, as everywhere.
    func owed(
        by account: AccountKey,
        on connection: isolated PostgresConnection
    ) throws -> [SubscriptionRow] {
        try connection.read(SubscriptionStore.lockingOwed(by: account))
    }

    /// Ends the charges for what an account owes that wait for its buyer, who pays by another card.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - method: The card, before it is saved.
    /// - Throws: `PostgresError`.
    func endWaiting(of account: AccountKey, insteadOf method: PaymentMethod) async throws {
        let waiting = WaitingChargeHandler(context: renewals.context, endCharges: endCharges)
        try await waiting.end(owedBy: account, insteadOf: method)
    }

    /// Charges for subscriptions by a card that their buyer has saved; it pays them from now on.
    ///
    /// One that is still active is charged at its next try. So is one for which a charge was asked for
    /// as often as ``AskedTries`` allow.
    ///
    /// - Parameters:
    ///   - rows: The subscriptions, locked.
    ///   - method: The card.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The attempts to carry out after the commit.
    /// - Throws: `PostgresError`, or an error of what is written.
    func charge(
        _ rows: [SubscriptionRow],
        by method: PaymentMethod,
        on connection: isolated PostgresConnection
    ) throws -> [ProcessorAttempt] {
        var attempts: [ProcessorAttempt] = []
        let time = renewals.context.now()
        for row in rows {
            guard let subscription = row.subscription else { continue }
            let key = try AskedTryStore.nextKey(of: subscription, at: time, on: connection)
            guard subscription.state != .active, key != nil || subscription.charge != nil else {
                try SubscriptionStore.set(method, of: row.key, on: connection)
                continue
            }
            // While a charge is under way, none is begun, so no key is used.
            attempts += try charge([row], .owedBy(method), under: key, on: connection)
        }
        return attempts
    }

    /// Charges for those subscriptions again that are paid with a card that its bank has renewed.
    ///
    /// - Parameters:
    ///   - rows: The subscriptions, locked.
    ///   - method: The card.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The attempts to carry out after the commit.
    /// - Throws: `PostgresError`, or an error of what is written.
    func tryAgain(
        _ rows: [SubscriptionRow],
        by method: PaymentMethod,
        on connection: isolated PostgresConnection
    ) throws -> [ProcessorAttempt] {
        try charge(rows.filter { $0.paymentMethod == method }, .owed, on: connection)
    }

    private func charge(
        _ rows: [SubscriptionRow],
        _ request: RenewalPlan.Request,
        under key: UsedKey? = nil,
        on connection: isolated PostgresConnection
    ) throws -> [ProcessorAttempt] {
        var attempts: [ProcessorAttempt] = []
        // While one is active, nothing is owed.
        for row in rows where row.subscription?.state != .active {
            attempts += try renewals.charge(
                row,
                request,
                under: key,
                within: TraceContext.begin(),
                on: connection
            ).attempts
        }
        return attempts
    }

    /// Called after a commit with the attempts to carry out.
    func didCommit(_ attempts: [ProcessorAttempt]) {
        if !attempts.isEmpty { renewals.didCommit(attempts) }
    }
}

import EventTypes
import Postgres
import StoreAPI
import Subscriptions

/// The charges for what subscriptions owe that somebody has asked for, in the table of transactions.
enum AskedTryStore {
    /// The key of the next charge that somebody may ask for today.
    ///
    /// - Parameters:
    ///   - subscription: The subscription, whose row is locked.
    ///   - time: The present.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The key; `nil` if there was the last charge of the day.
    /// - Throws: `PostgresError`.
    static func nextKey(
        of subscription: Subscription,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> UsedKey? {
        let keys = AskedTries(of: subscription.id, at: time).keys
        let made = try connection.read(
            TransactionStore.made(
                under: keys.map { (accountID: subscription.accountID, idempotencyKey: $0) }
            )
        )
        guard made.count < keys.count else { return nil }
        return UsedKey(idempotencyKey: keys[made.count], fingerprint: Array("charge".utf8))
    }

    /// The transaction of the charge that is under way, if somebody has asked for it.
    ///
    /// - Parameters:
    ///   - subscription: The subscription.
    ///   - connection: A connection.
    /// - Returns: The transaction; `nil` if there is none.
    /// - Throws: `PostgresError`.
    static func open(
        of subscription: Subscription,
        on connection: isolated PostgresConnection
    ) throws -> TransactionID? {
        guard let charge = subscription.charge else { return nil }
        // Midnight may have passed between the count of the tries and the charge.
        let times = [charge.startedAt, charge.startedAt.advanced(by: .seconds(-60))]
        let keys = Set(times.flatMap { AskedTries(of: subscription.id, at: $0).keys })
        let made = try connection.read(
            TransactionStore.made(
                under: keys.map { (accountID: subscription.accountID, idempotencyKey: $0) }
            )
        )
        let ids = made.map { $0.id }
        let records = try TransactionStore.load(ids, on: connection)
        return ids.first { records[$0]?.transaction.subscription?.charge == charge.key }
    }

    /// The time in which the processor ends a charge, so that another one begins.
    private static let ending = Duration.seconds(30)

    /// The charge that waits for its buyer on the bank's page, although another method is to pay.
    ///
    /// - Parameters:
    ///   - subscription: The subscription.
    ///   - method: The method that is to pay.
    ///   - rules: Tell whether the subscription would be over without the charge.
    ///   - time: The present.
    ///   - connection: A connection.
    /// - Returns: The charge; `nil` if none waits, if it is by that method, or if no other charge could be
    ///   made: the subscription would be over, or none may be asked for any more today.
    /// - Throws: `PostgresError`.
    static func waiting(
        of subscription: Subscription,
        insteadOf method: PaymentMethod,
        by rules: DueActionRules,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> ProcessorAttempt? {
        guard rules.isOwed(withoutChargeOf: subscription, at: time.advanced(by: ending)),
            let id = try open(of: subscription, on: connection),
            let attempt = try AttemptStore.awaitingAction(of: id, on: connection),
            attempt.paymentMethod != method,
            try nextKey(of: subscription, at: time, on: connection) != nil
        else { return nil }
        return attempt
    }
}

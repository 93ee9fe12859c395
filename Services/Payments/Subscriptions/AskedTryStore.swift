import EventTypes
import Postgres

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
}

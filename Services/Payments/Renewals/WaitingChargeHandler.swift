import EventTypes
import Postgres
import StoreAPI
import Subscriptions

/// Ends a charge that waits for its buyer, who chooses another payment method.
///
/// As long as a charge waits on the bank's page, no other is made. What the processor does not end is
/// waited for, and the method pays from the next try on. If the process is killed before the choice is
/// committed, the request is repeated.
struct WaitingChargeHandler: Sendable {
    let context: PaymentsContext
    /// Whether an account may pay by a method.
    let mayPay: @Sendable (PaymentMethod, AccountKey, isolated PostgresConnection) throws -> Bool
    /// Has the processor end charges.
    let endCharges: @Sendable ([ProcessorAttempt]) async -> Void

    /// Ends the charge of a subscription, if it waits for its buyer.
    ///
    /// - Parameters:
    ///   - id: The subscription.
    ///   - key: The account that chooses.
    ///   - method: The method that it chooses.
    /// - Throws: `PostgresError`.
    func end(
        of id: TransactionID,
        of key: AccountKey,
        insteadOf method: PaymentMethod
    ) async throws {
        let time = context.now()
        let waiting = try await context.client.withConnection {
            [self] connection -> ProcessorAttempt? in
            guard let row = try connection.read(SubscriptionStore.reading(id)).first,
                let subscription = row.subscription,
                row.key.accountID == key.accountID, row.key.bundleID == key.bundleID,
                try mayPay(method, key, connection)
            else { return nil }
            return try AskedTryStore.waiting(
                of: subscription,
                insteadOf: method,
                by: context.subscriptions.dueActions,
                at: time,
                on: connection
            )
        }
        if let waiting { await endCharges([waiting]) }
    }
}

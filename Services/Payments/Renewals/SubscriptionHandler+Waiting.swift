import EventTypes
import Postgres
import StoreAPI
import Subscriptions

extension SubscriptionHandler {
    /// Ends the charge of a subscription that waits for its buyer, who chooses another method.
    ///
    /// As long as it waits on the bank's page, no other charge is made. What the processor does not end is
    /// waited for, and the method pays from the next try on. If the process is killed before the choice
    /// is committed, the request is repeated.
    ///
    /// - Parameters:
    ///   - id: The subscription.
    ///   - key: The account that chooses.
    ///   - method: The method that it chooses.
    /// - Throws: `PostgresError`.
    func endWaiting(
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

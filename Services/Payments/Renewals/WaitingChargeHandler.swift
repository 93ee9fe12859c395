import EventTypes
import Postgres
import StoreAPI
import Subscriptions

/// Ends charges that wait for their buyer, who pays by another method instead.
///
/// As long as a charge waits on the bank's page, no other is made. What the processor does not end is
/// waited for, and the method pays from the next try on. If the process is killed before the method is
/// committed, the request is repeated.
struct WaitingChargeHandler: Sendable {
    let context: PaymentsContext
    /// Has the processor end charges.
    let endCharges: @Sendable ([ProcessorAttempt]) async -> Void

    /// Ends the charge of a subscription, if it waits for its buyer.
    ///
    /// - Parameters:
    ///   - id: The subscription.
    ///   - key: The account that chooses.
    ///   - method: The method that it chooses.
    ///   - mayPay: Whether an account may pay by a method.
    /// - Throws: `PostgresError`.
    func end(
        of id: TransactionID,
        of key: AccountKey,
        insteadOf method: PaymentMethod,
        if mayPay:
            @escaping @Sendable (PaymentMethod, AccountKey, isolated PostgresConnection) throws ->
            Bool
    ) async throws {
        try await end(insteadOf: method) { connection in
            guard let row = try connection.read(SubscriptionStore.reading(id)).first,
                row.key.accountID == key.accountID, row.key.bundleID == key.bundleID,
                try mayPay(method, key, connection)
            else { return [] }
            return [row]
        }
    }

    /// Ends the charges for what an account owes that wait for it.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - method: The card that it gives, before it is saved.
    /// - Throws: `PostgresError`.
    func end(owedBy account: AccountKey, insteadOf method: PaymentMethod) async throws {
        try await end(insteadOf: method) { connection in
            try connection.read(SubscriptionStore.lockingOwed(by: account))
        }
    }

    /// Ends the charges that wait for their buyers, of the subscriptions that a closure reads.
    private func end(
        insteadOf method: PaymentMethod,
        among read: @escaping @Sendable (isolated PostgresConnection) throws -> [SubscriptionRow]
    ) async throws {
        let time = context.now()
        let rules = context.subscriptions.dueActions
        let waiting = try await context.client.withTransaction {
            connection -> [ProcessorAttempt] in
            var waiting: [ProcessorAttempt] = []
            for row in try read(connection) {
                guard let subscription = row.subscription,
                    let attempt = try AskedTryStore.waiting(
                        of: subscription,
                        insteadOf: method,
                        by: rules,
                        at: time,
                        on: connection
                    )
                else { continue }
                waiting.append(attempt)
            }
            return waiting
        }
        if !waiting.isEmpty { await endCharges(waiting) }
    }
}

import EventTypes
import Postgres
import StoreAPI
import StoreTracing
import Subscriptions

/// Payment methods of subscriptions, and charges for what is owed because somebody asks for them.
extension SubscriptionHandler {
    /// Lets another payment method pay a subscription, and charges it at once for what is owed.
    ///
    /// While a charge is under way, only the next one is by the new method.
    ///
    /// - Parameters:
    ///   - method: The payment method.
    ///   - row: The subscription's row, locked.
    ///   - subscription: The subscription.
    ///   - trace: The trace of the request.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The reply, whether there are new events, and the attempts to carry out.
    /// - Throws: `PostgresError`, or an error of what is written.
    func choose(
        _ method: PaymentMethod,
        for row: SubscriptionRow,
        _ subscription: Subscription,
        trace: TraceContext,
        on connection: isolated PostgresConnection
    ) throws -> (reply: Reply, isChanged: Bool, attempts: [ProcessorAttempt]) {
        let account = AccountKey(
            accountID: subscription.accountID,
            bundleID: subscription.bundleID
        )
        guard try mayPay(method, account, connection) else {
            return (.refused(.paymentMethodUnknown), false, [])
        }
        switch present(subscription).state {
        case .expired, .revoked, .unknown: return (.refused(.ended), false, [])
        case .active, .inGracePeriod, .inBillingRetryPeriod: break
        }
        switch subscription.state {
        case .inGracePeriod, .inBillingRetryPeriod:
            // The subscription is saved with the method.
            return try pay(
                .owedBy(method),
                of: row,
                subscription,
                trace: trace,
                on: connection
            )
        case .active, .expired, .revoked, .unknown:
            try SubscriptionStore.set(method, of: row.key, on: connection)
            return (.done(present(subscription)), false, [])
        }
    }

    /// Charges for what is owed because somebody asks for it, as often as ``AskedTries`` allow.
    ///
    /// While a charge is under way, a request begins no other, so it is not counted.
    ///
    /// - Parameters:
    ///   - request: What is charged.
    ///   - row: The subscription's row, locked.
    ///   - subscription: The subscription.
    ///   - trace: The trace of the request.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The reply, whether there are new events, and the attempts to carry out.
    /// - Throws: `PostgresError`, or an error of what is written.
    func pay(
        _ request: RenewalPlan.Request,
        of row: SubscriptionRow,
        _ subscription: Subscription,
        trace: TraceContext,
        on connection: isolated PostgresConnection
    ) throws -> (reply: Reply, isChanged: Bool, attempts: [ProcessorAttempt]) {
        guard subscription.charge == nil else {
            return try charge(row, subscription, request, trace: trace, on: connection)
        }
        let tries = AskedTries(of: subscription.id, at: context.now())
        let made = try connection.read(
            TransactionStore.made(
                under: tries.keys.map {
                    (accountID: subscription.accountID, idempotencyKey: $0)
                }
            )
        )
        let used = Set(made.map { $0.key.idempotencyKey })
        guard let free = tries.keys.first(where: { !used.contains($0) }) else {
            return (.refused(.tooManyTries(retryAfter: tries.rest)), false, [])
        }
        return try charge(
            row,
            subscription,
            request,
            under: UsedKey(idempotencyKey: free, fingerprint: Array("charge".utf8)),
            trace: trace,
            on: connection
        )
    }
}

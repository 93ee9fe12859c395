import EventTypes
import Postgres
import StoreAPI
import StoreTracing
import Subscriptions

/// Extensions of periods, for which nobody pays.
extension SubscriptionHandler {
    /// Moves the end of a subscription's newest period; nobody pays for the days that it gains.
    ///
    /// The subscription and the transaction of the period change in one database transaction. A
    /// repetition under the same identifier changes nothing.
    ///
    /// - Parameters:
    ///   - id: The subscription.
    ///   - request: The extension.
    ///   - act: The act of the administrator.
    ///   - trace: The trace of the request.
    /// - Returns: The subscription afterwards, or the reason why nothing changes.
    /// - Throws: `PostgresError`, or an error of what is written.
    func extend(
        _ id: TransactionID,
        by request: RequestedExtension,
        act: Act?,
        trace: TraceContext
    ) async throws -> Reply {
        let (reply, isChanged) = try await context.client.withTransaction {
            connection -> (Reply, Bool) in
            // The row is locked first, so the newest period stays the newest.
            guard let row = try connection.read(SubscriptionStore.locking(id)).first,
                let period = row.subscription?.period
            else { return (.unknown, false) }
            var settlement = Settlement(context, within: trace)
            try settlement.lock([period.transactionID], on: connection)
            let move = settlement.plan.extend(row.key, by: request, within: trace, by: act)
            if let refusal = move.refusal {
                return (.refused(SubscriptionChangeRefusal(refusal)), false)
            }
            guard let after = settlement.plan.subscriptions.rows[row.key]?.subscription else {
                return (.unknown, false)
            }
            guard move.plan != nil else { return (.done(present(after)), false) }
            _ = try settlement.write(on: connection)
            return (.done(present(after)), true)
        }
        if isChanged { didCommit() }
        return reply
    }
}

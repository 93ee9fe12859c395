import EventTypes
import StoreTracing
import Subscriptions

extension SettlementPlan {
    /// Extends a subscription, and the transaction of its newest period.
    ///
    /// Both are locked.
    ///
    /// - Returns: The change of the subscription, or why there is none.
    mutating func extend(
        _ key: SubscriptionKey,
        by request: RequestedExtension,
        within trace: TraceContext?,
        by act: Act? = nil
    ) -> SubscriptionMove {
        let move = subscriptions.apply(.extended(request), to: key, within: trace, by: act)
        if let period = move.plan?.subscription.period {
            apply(.extendPeriod(until: period.end), to: period.transactionID, by: act)
        }
        return move
    }
}

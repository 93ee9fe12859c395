import EventTypes
import Messaging
import StoreTracing

extension OutboxEvent {
    /// The event of an account that changed.
    init(
        _ account: Account,
        by act: Act? = nil,
        at time: StoreTime,
        traceparent: TraceContext?
    ) throws {
        try self.init(
            AccountChanged(account: account, act: act),
            type: .accountChanged,
            topic: Topics.paymentsTransactions,
            key: account.accountID.rawValue,
            subject: account.accountID.rawValue,
            time: time,
            traceparent: traceparent
        )
    }
}

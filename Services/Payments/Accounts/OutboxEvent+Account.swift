import EventTypes
import Messaging

extension OutboxEvent {
    /// The event of an account that changed.
    init(_ account: Account, at time: StoreTime, traceparent: String?) throws {
        try self.init(
            AccountChanged(account: account),
            type: .accountChanged,
            topic: Topics.paymentsTransactions,
            key: account.accountID.rawValue,
            subject: account.accountID.rawValue,
            time: time,
            traceparent: traceparent
        )
    }
}

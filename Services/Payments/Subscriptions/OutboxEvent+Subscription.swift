import ClockAndIDs
import EventTypes
import Messaging

extension OutboxEvent {
    /// The event of a subscription that changed, with the whole subscription.
    init(
        _ change: SubscriptionChange,
        at time: StoreTime,
        in environment: StoreEnvironment
    ) throws {
        let event = SubscriptionChanged(
            subscription: change.subscription,
            cause: change.cause,
            changedAt: time,
            transactionID: change.transactionID,
            posting: change.posting,
            changedPeriods: change.changedPeriods.isEmpty ? nil : change.changedPeriods,
            refundedTransactionID: change.refundedTransactionID,
            environment: environment.rawValue,
            act: change.act
        )
        self.init(
            id: EventID(time: time),
            type: .subscriptionChanged,
            topic: Topics.paymentsTransactions,
            key: change.subscription.accountID.rawValue,
            subject: change.subscription.id.rawValue,
            time: time,
            traceparent: change.traceparent,
            data: event.json(subscription: change.document)
        )
    }
}

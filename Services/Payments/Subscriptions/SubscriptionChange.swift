import EventTypes
import StoreTracing

/// A change of a subscription that is published (rule S7 of docs/subscriptions.md).
struct SubscriptionChange: Hashable, Sendable {
    let subscription: Subscription
    /// The JSON of the subscription, which its event and its row have in common.
    let document: [UInt8]
    let cause: SubscriptionCause
    /// The transaction of the period that began with it.
    let transactionID: TransactionID?
    /// The posting of that transaction.
    var posting: PostingReference?
    let changedPeriods: [PaidPeriod]
    /// The transaction whose refund, or its reversal, is the cause.
    let refundedTransactionID: TransactionID?
    /// The act of the administrator who decided it.
    var act: Act?
    let traceparent: TraceContext?
}

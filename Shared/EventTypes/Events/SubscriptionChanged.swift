/// `subscription.changed.v1`: a subscription changed (rule S7 of docs/subscriptions.md).
///
/// Receipts, statuses, entitlements and notifications follow from this event alone.
public struct SubscriptionChanged: Event, Hashable {
    /// The whole subscription at its new version.
    public var subscription: Subscription
    /// The cause of the change.
    public var cause: SubscriptionCause
    /// The time of the change.
    ///
    /// The dates of the subscription may be earlier, as after an outage of the store.
    public var changedAt: StoreTime
    /// The transaction that was made with the change; `nil` if no period began.
    public var transactionID: TransactionID?
    /// The ledger posting of that transaction; `nil` if no money moved.
    public var posting: PostingReference?
    /// Older periods that changed, whose transactions are signed again; `nil` if there are none.
    public var changedPeriods: [PaidPeriod]?
    /// The transaction that was refunded, or whose refund was reversed; `nil` for all other causes.
    public var refundedTransactionID: TransactionID?
    /// The environment of the store: `Sandbox` or `Production`.
    public var environment: String
    /// The act that led to the change; `nil` if no administrator decided, and in older events.
    public var act: Act?

    /// Makes the event.
    public init(
        subscription: Subscription,
        cause: SubscriptionCause,
        changedAt: StoreTime,
        transactionID: TransactionID? = nil,
        posting: PostingReference? = nil,
        changedPeriods: [PaidPeriod]? = nil,
        refundedTransactionID: TransactionID? = nil,
        environment: String,
        act: Act? = nil
    ) {
        self.subscription = subscription
        self.cause = cause
        self.changedAt = changedAt
        self.transactionID = transactionID
        self.posting = posting
        self.changedPeriods = changedPeriods
        self.refundedTransactionID = refundedTransactionID
        self.environment = environment
        self.act = act
    }
}

/// `queue.subscription-changed.v1`: a subscription changed and no transaction says so, published as a
/// change of its account's queue.
///
/// It was cancelled, it lapsed, or a grace period began or ended. Clients receive exactly these bytes
/// on the queue's stream. The event has a revision of the queue, so a stream that resumes does not miss
/// it.
public struct QueueSubscriptionChanged: Event, Hashable {
    /// The number of changes to this account's queue.
    ///
    /// It is the `id` of the server-sent event.
    public var revision: Int64
    /// The whole subscription.
    public var subscription: Subscription
    /// Makes the event.
    public init(revision: Int64, subscription: Subscription) {
        self.revision = revision
        self.subscription = subscription
    }
}

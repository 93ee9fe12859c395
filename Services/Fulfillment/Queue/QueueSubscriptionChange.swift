import EventTypes
import StoreTracing

/// A subscription that changed without a transaction, as it arrived from `payments`, with its
/// original bytes.
struct ArrivedSubscription: Sendable {
    let queue: QueueKey
    let id: TransactionID
    let version: Int
    let snapshot: SubscriptionSnapshot
    let traceparent: TraceContext?

    init(
        _ subscription: Subscription,
        snapshot: SubscriptionSnapshot,
        traceparent: TraceContext? = nil
    ) {
        queue = QueueKey(accountID: subscription.accountID, bundleID: subscription.bundleID)
        id = subscription.id
        version = subscription.version
        self.snapshot = snapshot
        self.traceparent = traceparent
    }
}

/// A change of a subscription, with the revision of its queue.
///
/// It is published and sent to clients.
struct QueueSubscriptionChange: Sendable {
    let queue: QueueKey
    let id: TransactionID
    let revision: Int64
    let snapshot: SubscriptionSnapshot
    var traceparent: TraceContext?

    /// The data of its event.
    var data: [UInt8] { snapshot.queueSubscriptionChanged(revision: revision) }

    /// The message for the clients' streams.
    var message: QueueMessage {
        QueueMessage(revision: revision, kind: .subscription, data: data)
    }
}

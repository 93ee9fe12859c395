import EventTypes
import StoreTracing

/// An account that arrived from `payments`, with its original bytes.
struct ArrivedAccount: Sendable {
    let queue: QueueKey
    let version: Int
    let snapshot: AccountSnapshot
    let traceparent: TraceContext?

    init(_ account: Account, snapshot: AccountSnapshot, traceparent: TraceContext? = nil) {
        queue = QueueKey(accountID: account.accountID, bundleID: account.bundleID)
        version = account.version
        self.snapshot = snapshot
        self.traceparent = traceparent
    }
}

/// A change of the account, with the revision of its queue.
///
/// It is published and sent to clients.
struct QueueAccountChange: Sendable {
    let queue: QueueKey
    let revision: Int64
    let snapshot: AccountSnapshot
    var traceparent: TraceContext?

    /// The data of its event.
    var data: [UInt8] { snapshot.queueAccountChanged(revision: revision) }

    /// The message for the clients' streams.
    var message: QueueMessage { QueueMessage(revision: revision, kind: .account, data: data) }
}

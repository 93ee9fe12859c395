import EventTypes

/// An account that arrived from `payments`, with the bytes it came as.
struct ArrivedAccount: Sendable {
    let queue: QueueKey
    let version: Int
    let snapshot: AccountSnapshot
    let traceparent: String?

    init(_ account: Account, snapshot: AccountSnapshot, traceparent: String? = nil) {
        queue = QueueKey(accountID: account.accountID, bundleID: account.bundleID)
        version = account.version
        self.snapshot = snapshot
        self.traceparent = traceparent
    }
}

/// A change of a queue by its account, with its revision: what is published, and what clients are
/// sent.
struct QueueAccountChange: Sendable {
    let queue: QueueKey
    let revision: Int64
    let snapshot: AccountSnapshot
    var traceparent: String?

    /// The data of its event.
    var data: [UInt8] { snapshot.queueAccountChanged(revision: revision) }

    /// The message that tells a client.
    var message: QueueMessage { QueueMessage(revision: revision, kind: .account, data: data) }
}

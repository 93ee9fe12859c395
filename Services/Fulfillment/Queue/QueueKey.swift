import EventTypes

/// The key of a queue: each account has one queue in each app.
struct QueueKey: Hashable, Sendable {
    let accountID: AccountID
    let bundleID: BundleID
}

import EventTypes

/// Whose queue: each account has one in each app.
struct QueueKey: Hashable, Sendable {
    let accountID: AccountID
    let bundleID: BundleID
}

import EventTypes

/// The key of a queue: each account has one queue in each app.
struct QueueKey: Hashable, Sendable {
    let accountID: AccountID
    let bundleID: BundleID

    /// Hashes the account alone: few accounts have queues in several apps.
    func hash(into hasher: inout Hasher) { hasher.combine(accountID) }
}

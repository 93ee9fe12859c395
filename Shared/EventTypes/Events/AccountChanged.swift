/// `account.changed.v1`: whether an account may pay, where it buys, or what waits for its word
/// changed.
public struct AccountChanged: Event, Hashable {
    /// The account, whole, at its new version.
    public var account: Account
    /// Makes the event.
    public init(account: Account) { self.account = account }
}

/// `queue.account-changed.v1`: an account changed, as a change of its queue.
///
/// It is what clients receive on the queue's stream, byte for byte. Its revision is one of the
/// queue's own, so a stream that resumes misses it as little as a transaction.
public struct QueueAccountChanged: Event, Hashable {
    /// Counts the changes to this account's queue; the `id` of the server-sent event.
    public var revision: Int64
    /// The account.
    public var account: Account
    /// Makes the event.
    public init(revision: Int64, account: Account) {
        self.revision = revision
        self.account = account
    }
}

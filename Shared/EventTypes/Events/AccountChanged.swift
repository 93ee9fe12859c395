/// `account.changed.v1`: an account's permission to pay, its storefront, or its open questions
/// changed.
public struct AccountChanged: Event, Hashable {
    /// The whole account at its new version.
    public var account: Account
    /// The act of the administrator who changed it; `nil` if its buyer or the store did.
    public var act: Act?
    /// Makes the event.
    public init(account: Account, act: Act? = nil) {
        self.account = account
        self.act = act
    }
}

/// `queue.account-changed.v1`: an account changed, published as a change of its queue.
///
/// Clients receive exactly these bytes on the queue's stream. The event has a revision of the
/// queue, so a stream that resumes does not miss it.
public struct QueueAccountChanged: Event, Hashable {
    /// The number of changes to this account's queue.
    ///
    /// It is the `id` of the server-sent event.
    public var revision: Int64
    /// The account.
    public var account: Account
    /// Makes the event.
    public init(revision: Int64, account: Account) {
        self.revision = revision
        self.account = account
    }
}

public import EventTypes

/// A transaction that an app has yet to finish, as administrators are told of it.
public struct UnfinishedTransaction: Codable, Hashable, Sendable {
    /// The transaction.
    public var transactionID: TransactionID
    /// Whose it is.
    public var accountID: AccountID
    /// In which app.
    public var bundleID: BundleID
    /// Purchased, restored or failed.
    public var state: TransactionState
    /// Whether everything it owes is delivered, so that it can be finished.
    public var isDelivered: Bool
    /// When it changed last.
    public var changedAt: Timestamp

    /// Makes one.
    public init(
        transactionID: TransactionID,
        accountID: AccountID,
        bundleID: BundleID,
        state: TransactionState,
        isDelivered: Bool,
        changedAt: Timestamp
    ) {
        self.transactionID = transactionID
        self.accountID = accountID
        self.bundleID = bundleID
        self.state = state
        self.isDelivered = isDelivered
        self.changedAt = changedAt
    }
}

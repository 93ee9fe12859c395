public import EventTypes

/// A transaction that an app has not finished, for administrators.
public struct UnfinishedTransaction: Codable, Hashable, Sendable {
    /// The transaction.
    public var transactionID: TransactionID
    /// The account of the transaction.
    public var accountID: AccountID
    /// The app of the transaction.
    public var bundleID: BundleID
    /// The state: purchased, restored or failed.
    public var state: TransactionState
    /// Whether all deliveries by the store are confirmed, so that the transaction can be finished.
    public var isDelivered: Bool
    /// The time of the last change.
    public var changedAt: StoreTime

    /// Makes a transaction.
    public init(
        transactionID: TransactionID,
        accountID: AccountID,
        bundleID: BundleID,
        state: TransactionState,
        isDelivered: Bool,
        changedAt: StoreTime
    ) {
        self.transactionID = transactionID
        self.accountID = accountID
        self.bundleID = bundleID
        self.state = state
        self.isDelivered = isDelivered
        self.changedAt = changedAt
    }
}

public import EventTypes

/// A transaction that waits for an approval, for administrators.
public struct DeferredTransaction: Codable, Hashable, Sendable {
    /// The transaction.
    public var transactionID: TransactionID
    /// The account of the transaction.
    public var accountID: AccountID
    /// The app of the transaction.
    public var bundleID: BundleID
    /// The product to buy.
    public var productID: ProductID
    /// The number of units.
    public var quantity: Int
    /// The price of all units together.
    public var price: Money
    /// The time since which it waits.
    public var since: StoreTime

    /// Makes a transaction.
    public init(
        transactionID: TransactionID,
        accountID: AccountID,
        bundleID: BundleID,
        productID: ProductID,
        quantity: Int,
        price: Money,
        since: StoreTime
    ) {
        self.transactionID = transactionID
        self.accountID = accountID
        self.bundleID = bundleID
        self.productID = productID
        self.quantity = quantity
        self.price = price
        self.since = since
    }
}

public import EventTypes

/// An entitlement that an account has now, by its name.
///
/// If several products give the name, this is the one that lasts longest.
public struct NamedEntitlement: Codable, Hashable, Sendable {
    /// The name.
    public var name: EntitlementName
    /// The product that gives it.
    public var productID: ProductID
    /// The first transaction of the purchase that gives it.
    public var originalTransactionID: TransactionID
    /// The transaction that gives it: that of the period of a subscription, or else the original
    /// one.
    public var transactionID: TransactionID
    /// The time at which it ends, unless the subscription is renewed; `nil` if it does not end.
    public var endsAt: StoreTime?
    /// Makes an entitlement.
    public init(
        name: EntitlementName,
        productID: ProductID,
        originalTransactionID: TransactionID,
        transactionID: TransactionID,
        endsAt: StoreTime? = nil
    ) {
        self.name = name
        self.productID = productID
        self.originalTransactionID = originalTransactionID
        self.transactionID = transactionID
        self.endsAt = endsAt
    }
}

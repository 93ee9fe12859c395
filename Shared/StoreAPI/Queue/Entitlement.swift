public import EventTypes

/// One product that an account owns.
public struct Entitlement: Codable, Hashable, Sendable {
    /// The product.
    public var productID: ProductID
    /// The first transaction of the purchase that granted it.
    public var originalTransactionID: TransactionID
    /// The time of the grant.
    public var grantedAt: StoreTime
    /// The time of the revocation by a refund; `nil` while the product is owned.
    public var revokedAt: StoreTime?
    /// The time at which the entitlement of a subscription ends, unless the subscription is renewed;
    /// `nil` for all other products.
    public var endsAt: StoreTime?
    /// Makes an entitlement.
    public init(
        productID: ProductID,
        originalTransactionID: TransactionID,
        grantedAt: StoreTime,
        revokedAt: StoreTime? = nil,
        endsAt: StoreTime? = nil
    ) {
        self.productID = productID
        self.originalTransactionID = originalTransactionID
        self.grantedAt = grantedAt
        self.revokedAt = revokedAt
        self.endsAt = endsAt
    }
}

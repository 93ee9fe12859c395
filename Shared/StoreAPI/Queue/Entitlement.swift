public import EventTypes

/// One product that an account owns.
public struct Entitlement: Codable, Hashable, Sendable {
    /// The product.
    public var productID: ProductID
    /// The first transaction of the purchase that gave it.
    public var originalTransactionID: TransactionID
    /// Since when.
    public var grantedAt: Timestamp
    /// When a refund took it away; `nil` while it is owned.
    public var revokedAt: Timestamp?
    /// Makes an entitlement.
    public init(
        productID: ProductID,
        originalTransactionID: TransactionID,
        grantedAt: Timestamp,
        revokedAt: Timestamp? = nil
    ) {
        self.productID = productID
        self.originalTransactionID = originalTransactionID
        self.grantedAt = grantedAt
        self.revokedAt = revokedAt
    }
}

/// A payment transaction as `payments` publishes it: everything about it, at one version.
///
/// Each event carries the whole transaction, so a service needs no other event to act on it and can
/// tell an older one by ``version``.
public struct Transaction: Codable, Hashable, Sendable {
    /// The transaction's own identifier.
    public var id: TransactionID
    /// The first transaction of the same purchase; its own id unless restored or repurchased.
    public var originalID: TransactionID
    /// Counts the changes to this transaction, from 1; higher wins.
    public var version: Int
    /// Where it stands.
    public var state: TransactionState
    /// The buyer.
    public var accountID: AccountID
    /// The app it was bought in.
    public var bundleID: BundleID
    /// What was bought.
    public var productID: ProductID
    /// The version of the product that was bought.
    public var productVersion: Int
    /// The product's type at that version.
    public var productType: ProductType
    /// How many were bought.
    public var quantity: Int
    /// Where it was bought.
    public var storefront: Storefront
    /// What the whole purchase costs: the unit price times the quantity.
    ///
    /// Zero for a restored transaction and for the repurchase of an owned non-consumable.
    public var price: Money
    /// The app's own opaque name for the buyer (`SKPayment.applicationUsername`).
    public var applicationUsername: String?
    /// Where the purchase has to be delivered to, as the product said when it was bought.
    public var deliveryPlan: [DeliveryTarget]
    /// When the payment was accepted.
    public var requestedAt: Timestamp
    /// When the charge was confirmed, or the restore made; `nil` before.
    public var purchasedAt: Timestamp?
    /// When the first transaction of this purchase was purchased; `nil` before.
    public var originalPurchasedAt: Timestamp?
    /// Why it failed; only in the state `failed`.
    public var failureReason: FailureReason?
    /// When it was refunded; `nil` unless it was.
    public var revokedAt: Timestamp?

    /// Makes a transaction.
    public init(
        id: TransactionID,
        originalID: TransactionID,
        version: Int,
        state: TransactionState,
        accountID: AccountID,
        bundleID: BundleID,
        productID: ProductID,
        productVersion: Int,
        productType: ProductType,
        quantity: Int,
        storefront: Storefront,
        price: Money,
        applicationUsername: String?,
        deliveryPlan: [DeliveryTarget],
        requestedAt: Timestamp,
        purchasedAt: Timestamp? = nil,
        originalPurchasedAt: Timestamp? = nil,
        failureReason: FailureReason? = nil,
        revokedAt: Timestamp? = nil
    ) {
        self.id = id
        self.originalID = originalID
        self.version = version
        self.state = state
        self.accountID = accountID
        self.bundleID = bundleID
        self.productID = productID
        self.productVersion = productVersion
        self.productType = productType
        self.quantity = quantity
        self.storefront = storefront
        self.price = price
        self.applicationUsername = applicationUsername
        self.deliveryPlan = deliveryPlan
        self.requestedAt = requestedAt
        self.purchasedAt = purchasedAt
        self.originalPurchasedAt = originalPurchasedAt
        self.failureReason = failureReason
        self.revokedAt = revokedAt
    }
}

/// The account settings of a buyer in one app: whether the account may pay, its storefront, and the
/// purchases that it began outside the app.
///
/// `payments` publishes the whole account at each change, so a client needs no other event to act
/// on it. It recognizes an older one by its ``version``.
public struct Account: Codable, Hashable, Sendable {
    /// The buyer.
    public var accountID: AccountID
    /// The app.
    public var bundleID: BundleID
    /// The number of changes to this account, from 1.
    ///
    /// The higher version wins.
    ///
    /// It is 0 for an account that was never changed.
    public var version: Int
    /// Whether the account may pay (spec rules 1 and 2).
    ///
    /// A parent or the store may have blocked it.
    public var canMakePayments: Bool
    /// The account's storefront (spec rules 5 to 9); `nil` if nobody has set one.
    ///
    /// The client's value is used then.
    public var storefront: Storefront?
    /// The purchases that the account began outside the app and has neither paid nor declined,
    /// oldest first (spec rule 116).
    public var purchaseIntents: [PurchaseIntent]

    /// Makes an account.
    public init(
        accountID: AccountID,
        bundleID: BundleID,
        version: Int = 0,
        canMakePayments: Bool = true,
        storefront: Storefront? = nil,
        purchaseIntents: [PurchaseIntent] = []
    ) {
        self.accountID = accountID
        self.bundleID = bundleID
        self.version = version
        self.canMakePayments = canMakePayments
        self.storefront = storefront
        self.purchaseIntents = purchaseIntents
    }
}

/// A purchase that a buyer began outside the app (a promoted purchase, spec rule 116).
///
/// The app pays it, keeps it for later, or declines it.
public struct PurchaseIntent: Codable, Hashable, Sendable {
    /// The identifier of the intent.
    ///
    /// The payment refers to it.
    public var id: PurchaseIntentID
    /// The product to buy.
    public var productID: ProductID
    /// The number of units to buy.
    public var quantity: Int
    /// The time at which the buyer began the purchase.
    public var createdAt: StoreTime

    /// Makes an intent.
    public init(
        id: PurchaseIntentID,
        productID: ProductID,
        quantity: Int,
        createdAt: StoreTime
    ) {
        self.id = id
        self.productID = productID
        self.quantity = quantity
        self.createdAt = createdAt
    }
}

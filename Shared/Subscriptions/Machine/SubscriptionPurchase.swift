public import EventTypes

/// A purchase of a subscription that was charged.
public struct SubscriptionPurchase: Hashable, Sendable {
    /// Its transaction.
    public var transactionID: TransactionID
    /// The account that paid.
    public var accountID: AccountID
    /// The app.
    public var bundleID: BundleID
    /// The storefront (rule S33).
    public var storefront: Storefront
    /// The product, with the price at which it renews.
    public var product: SubscriptionProduct
    /// The offer at which it was charged; `nil` if it was charged at the ordinary price.
    public var offer: PeriodOffer?
    /// The offer of a code that follows the introductory one (rule S55); `nil` if there is none.
    public var laterOffer: PeriodOffer?
    /// The product that it replaces at once (rule S101); `nil` if none was running when the
    /// purchase was accepted.
    public var replaces: ProductID?

    /// Makes a purchase.
    public init(
        transactionID: TransactionID,
        accountID: AccountID,
        bundleID: BundleID,
        storefront: Storefront,
        product: SubscriptionProduct,
        offer: PeriodOffer? = nil,
        laterOffer: PeriodOffer? = nil,
        replaces: ProductID? = nil
    ) {
        self.transactionID = transactionID
        self.accountID = accountID
        self.bundleID = bundleID
        self.storefront = storefront
        self.product = product
        self.offer = offer
        self.laterOffer = laterOffer
        self.replaces = replaces
    }
}

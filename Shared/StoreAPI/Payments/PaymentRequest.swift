public import EventTypes

/// A request to add a payment to the account's queue (spec rules 22 to 31).
public struct PaymentRequest: Codable, Hashable, Sendable {
    /// What to buy.
    public var productID: ProductID
    /// How many, from 1 to 10.
    public var quantity: Int
    /// Where.
    public var storefront: Storefront
    /// The price of one that the buyer saw.
    ///
    /// A different price is refused with `stale_price`.
    public var price: Money
    /// What to charge: a token of the payment processor.
    ///
    /// The sandbox's are in ``SandboxPaymentMethod``.
    public var paymentMethod: String
    /// The app's own opaque name for the buyer.
    public var applicationUsername: String?
    /// The purchase that the buyer began outside the app and that this pays (spec rule 116).
    ///
    /// It is paid once: whoever comes second is refused with `purchase_intent_unknown`.
    public var purchaseIntentID: PurchaseIntentID?

    /// Makes a request.
    public init(
        productID: ProductID,
        quantity: Int = 1,
        storefront: Storefront,
        price: Money,
        paymentMethod: String,
        applicationUsername: String? = nil,
        purchaseIntentID: PurchaseIntentID? = nil
    ) {
        self.productID = productID
        self.quantity = quantity
        self.storefront = storefront
        self.price = price
        self.paymentMethod = paymentMethod
        self.applicationUsername = applicationUsername
        self.purchaseIntentID = purchaseIntentID
    }
}

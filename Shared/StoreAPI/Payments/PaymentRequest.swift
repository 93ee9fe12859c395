public import EventTypes

/// A request to add a payment to the account's queue (spec rules 22 to 31).
public struct PaymentRequest: Codable, Hashable, Sendable {
    /// The product to buy.
    public var productID: ProductID
    /// The number of units, from 1 to 10.
    public var quantity: Int
    /// The storefront of the purchase.
    public var storefront: Storefront
    /// The unit price that the buyer saw.
    ///
    /// If the price differs, the payment is refused with `stale_price`.
    public var price: Money
    /// The payment processor's token to charge.
    ///
    /// The sandbox's tokens are in ``SandboxPaymentMethod``.
    public var paymentMethod: PaymentMethod
    /// The app's own opaque name for the buyer.
    ///
    /// A store that charges cards refuses one that could be the number of a card. If the app's
    /// names are numbers of 14 to 16 digits, put a letter in front of them.
    public var applicationUsername: String?
    /// The purchase intent that this payment pays (spec rule 116).
    ///
    /// An intent can be paid only once. A second payment is refused with `purchase_intent_unknown`.
    public var purchaseIntentID: PurchaseIntentID?
    /// The offer that the buyer was shown with the price of a subscription.
    ///
    /// The payment is refused with `offer_not_available` if the account may not have it, and with
    /// `stale_offer` if its terms differ. ``price`` is then the ordinary price, which is paid after
    /// the offer. A request that names no offer still gets an introductory one.
    public var offer: ShownOffer?
    /// The promotional offer that the payment redeems, in its first form (rule S49).
    public var discount: PaymentDiscount?
    /// The promotional offer that the payment redeems, as a signed JWS (rule S50).
    ///
    /// A payment has at most one of ``discount``, this and ``introductoryOfferEligibility``.
    public var promotionalOffer: String?
    /// The decision of the merchant's server about the introductory offer, as a signed JWS (rule S48).
    ///
    /// It gives the offer once more to an account that has had one, or withholds it from one that may
    /// have it.
    public var introductoryOfferEligibility: String?

    /// Makes a request.
    public init(
        productID: ProductID,
        quantity: Int = 1,
        storefront: Storefront,
        price: Money,
        paymentMethod: PaymentMethod,
        applicationUsername: String? = nil,
        purchaseIntentID: PurchaseIntentID? = nil,
        offer: ShownOffer? = nil,
        discount: PaymentDiscount? = nil,
        promotionalOffer: String? = nil,
        introductoryOfferEligibility: String? = nil
    ) {
        self.productID = productID
        self.quantity = quantity
        self.storefront = storefront
        self.price = price
        self.paymentMethod = paymentMethod
        self.applicationUsername = applicationUsername
        self.purchaseIntentID = purchaseIntentID
        self.offer = offer
        self.discount = discount
        self.promotionalOffer = promotionalOffer
        self.introductoryOfferEligibility = introductoryOfferEligibility
    }
}

/// A charge for the next period whose outcome is not known yet.
public struct RenewalCharge: Codable, Hashable, Sendable {
    /// The identity of the charge.
    public var key: RenewalChargeKey
    /// The product of the next period, with its ordinary price for this account.
    public var product: SubscriptionProduct
    /// The offer of the next period, with the price to charge; `nil` for the ordinary price.
    @Boxed public var offer: PeriodOffer?
    /// The storefront of the price (rule S33).
    public var storefront: Storefront
    /// The time at which the charge was begun.
    public var startedAt: StoreTime
    /// Whether the running period ends when the charge succeeds, because a test asked for it.
    public var endsPeriod: Bool?

    /// Makes a charge.
    public init(
        key: RenewalChargeKey,
        product: SubscriptionProduct,
        offer: PeriodOffer? = nil,
        storefront: Storefront,
        startedAt: StoreTime
    ) {
        self.key = key
        self.product = product
        self.offer = offer
        self.storefront = storefront
        self.startedAt = startedAt
    }

    /// The price to charge.
    public var price: Money { offer?.price ?? product.price }
}

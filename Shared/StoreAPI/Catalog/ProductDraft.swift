public import EventTypes

/// An administrator's description of a product.
///
/// The catalog adds the id and the version. It is no part of `Product`, because its members may be
/// missing, each with its default.
public struct ProductDraft: Codable, Hashable, Sendable {
    /// The type of the product.
    ///
    /// It cannot be changed after the product's creation.
    public var type: ProductType
    /// Whether it can be bought.
    public var isOnSale: Bool?
    /// Whether a finished purchase can be restored.
    ///
    /// The default depends on the type.
    public var isRestorable: Bool?
    /// Whether the buyer's family may use it.
    ///
    /// The default is `false` for a new product. Once it is `true`, it stays so.
    public var isFamilyShareable: Bool?
    /// The unit price in each storefront.
    public var prices: [Storefront: Money]
    /// The scheduled price in each storefront that has one.
    ///
    /// There is none by default. The storefront has a present price, too, in the same currency.
    public var priceChanges: [Storefront: PriceChange]?
    /// The title and description in each language.
    public var localizations: [LanguageTag: ProductText]
    /// The targets of delivery.
    ///
    /// The default depends on the type.
    public var deliveryPlan: [DeliveryTarget]?
    /// The group, the level and the period of a subscription that renews automatically.
    ///
    /// Such a subscription needs it, and no other type has it.
    public var subscription: SubscriptionTerms?
    /// The offer to accounts that never had one in the product's group.
    ///
    /// Only a subscription that renews automatically has one. There is none by default.
    public var introductoryOffer: OfferTerms?
    /// The offers that the merchant's server gives to accounts that have, or had, a subscription.
    ///
    /// Only a subscription that renews automatically has some. There are none by default.
    public var promotionalOffers: [PromotionalOffer]?
    /// The offers that accounts get by redeeming codes.
    ///
    /// Only a subscription that renews automatically has some. There are none by default.
    public var codeOffers: [CodeOffer]?
    /// The offers to accounts whose subscription in the product's group has ended.
    ///
    /// Only a subscription that renews automatically has some. There are none by default.
    public var winBackOffers: [WinBackOffer]?
    /// The names of the entitlements that the product gives while an account owns it.
    ///
    /// There are none by default.
    public var entitlements: [EntitlementName]?
    /// The administrator's reason for the change, which its event keeps.
    ///
    /// It is no part of the product, so an exported draft has none.
    public var reason: ActReason?

    /// Makes a draft.
    public init(
        type: ProductType,
        isOnSale: Bool? = nil,
        isRestorable: Bool? = nil,
        isFamilyShareable: Bool? = nil,
        prices: [Storefront: Money],
        priceChanges: [Storefront: PriceChange]? = nil,
        localizations: [LanguageTag: ProductText],
        deliveryPlan: [DeliveryTarget]? = nil,
        subscription: SubscriptionTerms? = nil,
        introductoryOffer: OfferTerms? = nil,
        promotionalOffers: [PromotionalOffer]? = nil,
        codeOffers: [CodeOffer]? = nil,
        winBackOffers: [WinBackOffer]? = nil,
        entitlements: [EntitlementName]? = nil,
        reason: ActReason? = nil
    ) {
        self.type = type
        self.isOnSale = isOnSale
        self.isRestorable = isRestorable
        self.isFamilyShareable = isFamilyShareable
        self.prices = prices
        self.priceChanges = priceChanges
        self.localizations = localizations
        self.deliveryPlan = deliveryPlan
        self.subscription = subscription
        self.introductoryOffer = introductoryOffer
        self.promotionalOffers = promotionalOffers
        self.codeOffers = codeOffers
        self.winBackOffers = winBackOffers
        self.entitlements = entitlements
        self.reason = reason
    }
}

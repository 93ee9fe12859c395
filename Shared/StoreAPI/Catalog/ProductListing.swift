public import EventTypes

/// A product with the texts and the price of one storefront.
public struct ProductListing: Codable, Hashable, Sendable {
    /// The product's identifier.
    public var id: ProductID
    /// The product's version.
    public var version: Int
    /// The type of the product.
    public var type: ProductType
    /// The unit price.
    public var price: Money
    /// The localized name.
    public var title: String
    /// The localized description.
    public var description: String
    /// The language of both texts.
    ///
    /// It may be a fallback for the requested language.
    public var language: LanguageTag
    /// Whether the buyer's family may use it.
    public var isFamilyShareable: Bool
    /// The group, the level and the period of a subscription that renews automatically.
    public var subscription: SubscriptionTerms?
    /// The localized name of the subscription group; `nil` if the group has no name.
    ///
    /// Its language is chosen as that of the other texts is, but from the languages of the group.
    public var subscriptionGroupName: String?
    /// The offer to accounts that never had one in the product's group; `nil` if there is none in the
    /// storefront.
    ///
    /// Everybody sees it. The store decides at the purchase who has it.
    public var introductoryOffer: OfferListing?
    /// The offers that the merchant's server gives to accounts that have, or had, a subscription; `nil`
    /// if there are none in the storefront.
    public var promotionalOffers: [NamedOfferListing]?
    /// The offers to accounts whose subscription in the group has ended; `nil` if there are none in the
    /// storefront.
    ///
    /// Everybody sees them. The renewal info of a subscription says which its account may have.
    public var winBackOffers: [NamedOfferListing]?

    /// Makes a listing.
    public init(
        id: ProductID,
        version: Int,
        type: ProductType,
        price: Money,
        title: String,
        description: String,
        language: LanguageTag,
        isFamilyShareable: Bool = false,
        subscription: SubscriptionTerms? = nil,
        subscriptionGroupName: String? = nil,
        introductoryOffer: OfferListing? = nil,
        promotionalOffers: [NamedOfferListing]? = nil,
        winBackOffers: [NamedOfferListing]? = nil
    ) {
        self.id = id
        self.version = version
        self.type = type
        self.price = price
        self.title = title
        self.description = description
        self.language = language
        self.isFamilyShareable = isFamilyShareable
        self.subscription = subscription
        self.subscriptionGroupName = subscriptionGroupName
        self.introductoryOffer = introductoryOffer
        self.promotionalOffers = promotionalOffers
        self.winBackOffers = winBackOffers
    }
}

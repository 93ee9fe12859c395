/// One version of a product, as the catalog publishes it.
public struct Product: Codable, Hashable, Sendable {
    /// The product's identifier, unique forever.
    public var id: ProductID
    /// The number of changes to this product, from 1.
    ///
    /// The higher version wins.
    public var version: Int
    /// The type of the product.
    public var type: ProductType
    /// Whether it is on sale.
    ///
    /// A product keeps its id and its history after its sale has ended.
    public var isOnSale: Bool
    /// Whether a finished purchase can be restored (spec rule 68).
    public var isRestorable: Bool
    /// Whether the buyer's family may use it (`SKProduct.isFamilyShareable`).
    ///
    /// The store shares non-consumables and periods of subscriptions in families.
    public var isFamilyShareable: Bool
    /// The unit price in each storefront.
    ///
    /// The product is not sold in a storefront without a price.
    public var prices: [Storefront: Money]
    /// The newest scheduled price in each storefront that had one.
    ///
    /// It stays after its time has come, until the price is set again. ``inForce(at:)`` has the prices
    /// of a time.
    public var priceChanges: [Storefront: PriceChange]
    /// The title and description in each language.
    public var localizations: [LanguageTag: ProductText]
    /// The targets to which a purchase must be delivered.
    public var deliveryPlan: [DeliveryTarget]
    /// The group, the level and the period of a subscription that renews automatically.
    ///
    /// `nil` for all other types, and for subscriptions that were defined without it.
    public var subscription: SubscriptionTerms?
    /// The offer to accounts that never had one in the product's group; `nil` if there is none.
    ///
    /// A change counts for later purchases only.
    public var introductoryOffer: OfferTerms?
    /// The offers that the merchant's server gives to accounts that have, or had, a subscription.
    ///
    /// A change counts for later purchases only.
    public var promotionalOffers: [PromotionalOffer]
    /// The offers that accounts get by redeeming codes.
    ///
    /// A change counts for later redemptions only.
    public var codeOffers: [CodeOffer]
    /// The offers to accounts whose subscription in the product's group has ended.
    ///
    /// A change counts for later purchases only.
    public var winBackOffers: [WinBackOffer]
    /// The names of the entitlements that the product gives while an account owns it.
    ///
    /// A change counts for earlier purchases too, at once.
    public var entitlements: [EntitlementName]

    /// Makes a product.
    public init(
        id: ProductID,
        version: Int,
        type: ProductType,
        isOnSale: Bool,
        isRestorable: Bool,
        isFamilyShareable: Bool = false,
        prices: [Storefront: Money],
        priceChanges: [Storefront: PriceChange] = [:],
        localizations: [LanguageTag: ProductText],
        deliveryPlan: [DeliveryTarget],
        subscription: SubscriptionTerms? = nil,
        introductoryOffer: OfferTerms? = nil,
        promotionalOffers: [PromotionalOffer] = [],
        codeOffers: [CodeOffer] = [],
        winBackOffers: [WinBackOffer] = [],
        entitlements: [EntitlementName] = []
    ) {
        self.id = id
        self.version = version
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
    }
}

extension Product {
    private enum CodingKeys: String, CodingKey {
        case id, version, type, isOnSale, isRestorable, isFamilyShareable, prices, priceChanges
        case localizations, deliveryPlan, subscription, introductoryOffer, promotionalOffers
        case codeOffers, winBackOffers, entitlements
    }

    /// Decodes a product.
    ///
    /// `isFamilyShareable` is `false`, and `priceChanges`, offers and `entitlements` are empty if the
    /// event lacks them.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(ProductID.self, forKey: .id),
            version: try container.decode(Int.self, forKey: .version),
            type: try container.decode(ProductType.self, forKey: .type),
            isOnSale: try container.decode(Bool.self, forKey: .isOnSale),
            isRestorable: try container.decode(Bool.self, forKey: .isRestorable),
            isFamilyShareable: try container.decodeIfPresent(Bool.self, forKey: .isFamilyShareable)
                ?? false,
            prices: try container.decode([Storefront: Money].self, forKey: .prices),
            priceChanges: try container.decodeIfPresent(
                [Storefront: PriceChange].self,
                forKey: .priceChanges
            ) ?? [:],
            localizations: try container.decode(
                [LanguageTag: ProductText].self,
                forKey: .localizations
            ),
            deliveryPlan: try container.decode([DeliveryTarget].self, forKey: .deliveryPlan),
            subscription: try container.decodeIfPresent(
                SubscriptionTerms.self,
                forKey: .subscription
            ),
            introductoryOffer: try container.decodeIfPresent(
                OfferTerms.self,
                forKey: .introductoryOffer
            ),
            promotionalOffers: try container.decodeIfPresent(
                [PromotionalOffer].self,
                forKey: .promotionalOffers
            ) ?? [],
            codeOffers: try container.decodeIfPresent([CodeOffer].self, forKey: .codeOffers) ?? [],
            winBackOffers: try container.decodeIfPresent(
                [WinBackOffer].self,
                forKey: .winBackOffers
            ) ?? [],
            entitlements: try container.decodeIfPresent(
                [EntitlementName].self,
                forKey: .entitlements
            ) ?? []
        )
    }

    /// Encodes a product.
    ///
    /// `isFamilyShareable` is written only if it is `true`, and `priceChanges`, other offers and
    /// `entitlements` only if there are any, so that the JSON of other products stays the same.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(version, forKey: .version)
        try container.encode(type, forKey: .type)
        try container.encode(isOnSale, forKey: .isOnSale)
        try container.encode(isRestorable, forKey: .isRestorable)
        if isFamilyShareable { try container.encode(true, forKey: .isFamilyShareable) }
        try container.encode(prices, forKey: .prices)
        if !priceChanges.isEmpty { try container.encode(priceChanges, forKey: .priceChanges) }
        try container.encode(localizations, forKey: .localizations)
        try container.encode(deliveryPlan, forKey: .deliveryPlan)
        try container.encodeIfPresent(subscription, forKey: .subscription)
        try container.encodeIfPresent(introductoryOffer, forKey: .introductoryOffer)
        if !promotionalOffers.isEmpty {
            try container.encode(promotionalOffers, forKey: .promotionalOffers)
        }
        if !codeOffers.isEmpty { try container.encode(codeOffers, forKey: .codeOffers) }
        if !winBackOffers.isEmpty { try container.encode(winBackOffers, forKey: .winBackOffers) }
        if !entitlements.isEmpty { try container.encode(entitlements, forKey: .entitlements) }
    }
}

/// The texts of a product in one language.
public struct ProductText: Codable, Hashable, Sendable {
    /// The localized name.
    public var title: String
    /// The localized description.
    public var description: String

    /// Makes a text.
    public init(title: String, description: String) {
        self.title = title
        self.description = description
    }
}

/// One target to which a purchase is delivered.
///
/// A product's plan has one or more targets.
///
/// The wire format is `{"kind": "entitlement"}`, `{"kind": "credit", "unit": "coins", "amount":
/// 100}`, `{"kind": "webhook", "url": "https://…"}` or `{"kind": "app"}`.
public enum DeliveryTarget: Codable, Hashable, Sendable {
    /// The account owns the product. `fulfillment` answers questions about ownership.
    case entitlement
    /// The account's balance of a unit increases by an amount for each purchased unit, exactly
    /// once.
    case credit(unit: String, amount: Int64)
    /// A signed HTTP request to the merchant, which is repeated until the answer is a 2xx.
    case webhook(url: String)
    /// The app delivers the product. When it finishes the transaction, it confirms the delivery.
    case app
    /// A kind that only a newer version of the store knows. This version never confirms it.
    case unknown(kind: String)

    /// The kind in its wire format and in the table of deliveries.
    public var kind: String {
        switch self {
        case .entitlement: "entitlement"
        case .credit: "credit"
        case .webhook: "webhook"
        case .app: "app"
        case .unknown(let kind): kind
        }
    }

    private enum CodingKeys: String, CodingKey {
        case kind, unit, amount, url
    }

    /// Decodes a target from a JSON object.
    ///
    /// An unknown kind keeps its name.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let kind = try container.decode(String.self, forKey: .kind)
        switch kind {
        case "entitlement": self = .entitlement
        case "credit":
            self = .credit(
                unit: try container.decode(String.self, forKey: .unit),
                amount: try container.decode(Int64.self, forKey: .amount)
            )
        case "webhook": self = .webhook(url: try container.decode(String.self, forKey: .url))
        case "app": self = .app
        default: self = .unknown(kind: kind)
        }
    }

    /// Encodes the target as a JSON object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        switch self {
        case .credit(let unit, let amount):
            try container.encode(unit, forKey: .unit)
            try container.encode(amount, forKey: .amount)
        case .webhook(let url):
            try container.encode(url, forKey: .url)
        case .entitlement, .app, .unknown:
            break
        }
    }
}

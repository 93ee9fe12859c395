/// A product as the catalog publishes it: one version of one sellable thing.
public struct Product: Codable, Hashable, Sendable {
    /// The product's identifier, unique forever.
    public var id: ProductID
    /// Counts the changes to this product, from 1; higher wins.
    public var version: Int
    /// Which of the four types it is.
    public var type: ProductType
    /// Whether it can be bought at all; a product that left sale keeps its id and its history.
    public var isOnSale: Bool
    /// Whether a finished purchase can be restored (spec rule 68).
    public var isRestorable: Bool
    /// Whether the buyer's family may use it (`SKProduct.isFamilyShareable`).
    ///
    /// The store tells apps of it and shares nothing yet.
    public var isFamilyShareable: Bool
    /// What one of it costs, per storefront; a storefront without a price does not sell it.
    public var prices: [Storefront: Money]
    /// Its title and description, per language.
    public var localizations: [LanguageTag: ProductText]
    /// Where a purchase of it has to be delivered to.
    public var deliveryPlan: [DeliveryTarget]

    /// Makes a product.
    public init(
        id: ProductID,
        version: Int,
        type: ProductType,
        isOnSale: Bool,
        isRestorable: Bool,
        isFamilyShareable: Bool = false,
        prices: [Storefront: Money],
        localizations: [LanguageTag: ProductText],
        deliveryPlan: [DeliveryTarget]
    ) {
        self.id = id
        self.version = version
        self.type = type
        self.isOnSale = isOnSale
        self.isRestorable = isRestorable
        self.isFamilyShareable = isFamilyShareable
        self.prices = prices
        self.localizations = localizations
        self.deliveryPlan = deliveryPlan
    }
}

extension Product {
    private enum CodingKeys: String, CodingKey {
        case id, version, type, isOnSale, isRestorable, isFamilyShareable, prices, localizations
        case deliveryPlan
    }

    /// Reads a product; what an older catalog does not say is `false`.
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
            localizations: try container.decode(
                [LanguageTag: ProductText].self,
                forKey: .localizations
            ),
            deliveryPlan: try container.decode([DeliveryTarget].self, forKey: .deliveryPlan)
        )
    }

    /// Writes a product.
    ///
    /// What is not shared says nothing of it, so that a product is the same text as ever.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(version, forKey: .version)
        try container.encode(type, forKey: .type)
        try container.encode(isOnSale, forKey: .isOnSale)
        try container.encode(isRestorable, forKey: .isRestorable)
        if isFamilyShareable { try container.encode(true, forKey: .isFamilyShareable) }
        try container.encode(prices, forKey: .prices)
        try container.encode(localizations, forKey: .localizations)
        try container.encode(deliveryPlan, forKey: .deliveryPlan)
    }
}

/// The words that sell a product, in one language.
public struct ProductText: Codable, Hashable, Sendable {
    /// The name shown to the buyer.
    public var title: String
    /// The sentence shown below it.
    public var description: String

    /// Makes a text.
    public init(title: String, description: String) {
        self.title = title
        self.description = description
    }
}

/// One place that a purchase is delivered to.
///
/// A product's plan holds one or more.
///
/// On the wire: `{"kind": "entitlement"}`, `{"kind": "credit", "unit": "coins", "amount": 100}`,
/// `{"kind": "webhook", "url": "https://…"}`, `{"kind": "app"}`.
public enum DeliveryTarget: Codable, Hashable, Sendable {
    /// The account owns the product, as `fulfillment` answers when asked.
    case entitlement
    /// The account's balance of a unit rises by an amount for each one bought, exactly once.
    case credit(unit: String, amount: Int64)
    /// A signed HTTP request to the merchant, repeated until it is answered with 2xx.
    case webhook(url: String)
    /// The app delivers by itself; its finish is the confirmation.
    case app
    /// A kind that a newer version of the store knows; it is never confirmed by this one.
    case unknown(kind: String)

    /// The kind as it stands on the wire and in the deliveries ledger.
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

    /// Reads a target from a JSON object; a kind this version does not know is kept by name.
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

    /// Writes the target as a JSON object.
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

public import EventTypes

/// What an administrator says of a product; its id and version are the catalog's business.
public struct ProductDraft: Codable, Hashable, Sendable {
    /// Which of the four types it is; never changes once created.
    public var type: ProductType
    /// Whether it can be bought.
    public var isOnSale: Bool?
    /// Whether a finished purchase can be restored; by default the type decides.
    public var isRestorable: Bool?
    /// Whether the buyer's family may use it; `false` unless said.
    public var isFamilyShareable: Bool?
    /// What one of it costs, per storefront.
    public var prices: [Storefront: Money]
    /// Its title and description, per language.
    public var localizations: [LanguageTag: ProductText]
    /// Where a purchase has to be delivered to; by default the type decides.
    public var deliveryPlan: [DeliveryTarget]?

    /// Makes a draft.
    public init(
        type: ProductType,
        isOnSale: Bool? = nil,
        isRestorable: Bool? = nil,
        isFamilyShareable: Bool? = nil,
        prices: [Storefront: Money],
        localizations: [LanguageTag: ProductText],
        deliveryPlan: [DeliveryTarget]? = nil
    ) {
        self.type = type
        self.isOnSale = isOnSale
        self.isRestorable = isRestorable
        self.isFamilyShareable = isFamilyShareable
        self.prices = prices
        self.localizations = localizations
        self.deliveryPlan = deliveryPlan
    }
}

public import EventTypes

/// A campaign of offer codes, which give one offer of a subscription (rule S56 of
/// docs/subscriptions.md).
public struct CodeCampaign: Codable, Hashable, Sendable {
    /// The number of the campaign.
    public var id: Int64
    /// The app in which the codes are good.
    public var bundleID: BundleID
    /// The subscription.
    public var productID: ProductID
    /// The offer, one of the product's code offers.
    public var offerID: OfferID
    /// The custom code; `nil` for one-time codes, which nobody is told again.
    public var word: String?
    /// The number of one-time codes, or of the redemptions that a custom code has.
    public var count: Int
    /// The redemptions so far.
    public var redemptions: Int
    /// The end by the store's clock; `nil` if there is none.
    public var expiresAt: StoreTime?
    /// The time at which it was made.
    public var createdAt: StoreTime
    /// Who made it, and why.
    public var created: Act
    /// The time at which its codes were deactivated; `nil` while they are not.
    public var deactivatedAt: StoreTime?
    /// Who deactivated them, and why.
    public var deactivated: Act?

    /// Makes a campaign.
    public init(
        id: Int64,
        bundleID: BundleID,
        productID: ProductID,
        offerID: OfferID,
        word: String? = nil,
        count: Int,
        redemptions: Int,
        expiresAt: StoreTime? = nil,
        createdAt: StoreTime,
        created: Act,
        deactivatedAt: StoreTime? = nil,
        deactivated: Act? = nil
    ) {
        self.id = id
        self.bundleID = bundleID
        self.productID = productID
        self.offerID = offerID
        self.word = word
        self.count = count
        self.redemptions = redemptions
        self.expiresAt = expiresAt
        self.createdAt = createdAt
        self.created = created
        self.deactivatedAt = deactivatedAt
        self.deactivated = deactivated
    }
}

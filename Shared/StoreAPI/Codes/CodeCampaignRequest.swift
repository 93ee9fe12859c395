public import EventTypes

/// An administrator's request for offer codes.
///
/// Body of `POST /v1/admin/code-campaigns`. With a `word` it makes one custom code, which can be redeemed
/// `count` times. Without one it makes `count` one-time codes.
public struct CodeCampaignRequest: Codable, Hashable, Sendable {
    /// The app in which the codes are good.
    public var bundleID: BundleID
    /// The subscription.
    public var productID: ProductID
    /// The offer, one of the product's code offers.
    public var offerID: OfferID
    /// The number of one-time codes, or of the redemptions of the custom code.
    public var count: Int
    /// The custom code: 4 to 64 letters and digits, whose case does not matter.
    public var word: String?
    /// The end by the store's clock.
    public var expiresAt: StoreTime?
    /// The administrator's reason.
    public var reason: ActReason?

    /// Makes a request.
    public init(
        bundleID: BundleID,
        productID: ProductID,
        offerID: OfferID,
        count: Int,
        word: String? = nil,
        expiresAt: StoreTime? = nil,
        reason: ActReason? = nil
    ) {
        self.bundleID = bundleID
        self.productID = productID
        self.offerID = offerID
        self.count = count
        self.word = word
        self.expiresAt = expiresAt
        self.reason = reason
    }
}

/// An administrator's decision that the codes of a campaign are not good any more.
public struct CodeDeactivationRequest: Codable, Hashable, Sendable {
    /// The administrator's reason.
    public var reason: ActReason?

    /// Makes a request.
    public init(reason: ActReason? = nil) { self.reason = reason }
}

/// A request to extend the subscriptions of all subscribers of a product, and how far it has come.
public struct MassExtension: Codable, Hashable, Sendable {
    /// The number of the request among all requests of the store.
    public var number: Int64
    /// The app of the subscribers.
    public var bundleID: BundleID
    /// The product that they are subscribed to.
    public var productID: ProductID
    /// The identifier that the sender has given the request, under which it is made once for the
    /// product.
    public var requestIdentifier: String
    /// The number of days, from 1 to 90.
    public var days: Int
    /// Apple's code of the reason, from 0 to 3.
    public var reasonCode: Int
    /// The storefronts of the subscribers; `nil` for all.
    public var storefronts: [Storefront]?
    /// The time at which the request was accepted.
    public var acceptedAt: StoreTime
    /// The time at which the last subscription was dealt with.
    public var completedAt: StoreTime?
    /// The number of subscriptions that were extended so far.
    public var succeededCount: Int64 = 0
    /// The number of subscriptions that could not be extended so far.
    public var failedCount: Int64 = 0

    /// Makes a request that was just accepted.
    public init(
        number: Int64,
        bundleID: BundleID,
        productID: ProductID,
        requestIdentifier: String,
        days: Int,
        reasonCode: Int,
        storefronts: [Storefront]? = nil,
        acceptedAt: StoreTime
    ) {
        self.number = number
        self.bundleID = bundleID
        self.productID = productID
        self.requestIdentifier = requestIdentifier
        self.days = days
        self.reasonCode = reasonCode
        self.storefronts = storefronts
        self.acceptedAt = acceptedAt
    }

    /// Whether another request asks for the same.
    public func asksForTheSame(as other: MassExtension) -> Bool {
        bundleID == other.bundleID && productID == other.productID
            && requestIdentifier == other.requestIdentifier && days == other.days
            && reasonCode == other.reasonCode
            && storefronts.map(Set.init) == other.storefronts.map(Set.init)
    }
}

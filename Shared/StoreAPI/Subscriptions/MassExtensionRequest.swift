public import EventTypes

/// A request to extend the newest periods of all subscribers of a product, which nobody pays.
public struct MassExtensionRequest: Codable, Hashable, Sendable {
    /// The app of the subscribers.
    public var bundleID: BundleID
    /// The product that they are subscribed to.
    public var productID: ProductID
    /// The number of days, from 1 to 90.
    public var days: Int
    /// The code of the reason; `nil` for none.
    public var reasonCode: ExtensionRequest.ReasonCode?
    /// The storefronts of the subscribers; `nil` for all.
    public var storefronts: [Storefront]?
    /// The administrator's reason.
    public var reason: ActReason?

    /// Makes a request.
    public init(
        bundleID: BundleID,
        productID: ProductID,
        days: Int,
        reasonCode: ExtensionRequest.ReasonCode? = nil,
        storefronts: [Storefront]? = nil,
        reason: ActReason? = nil
    ) {
        self.bundleID = bundleID
        self.productID = productID
        self.days = days
        self.reasonCode = reasonCode
        self.storefronts = storefronts
        self.reason = reason
    }
}

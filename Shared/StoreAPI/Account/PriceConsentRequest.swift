public import EventTypes

/// A request to ask a subscriber for consent to a price increase (spec rules 106 and 107).
public struct PriceConsentRequest: Codable, Hashable, Sendable {
    /// The app.
    public var bundleID: BundleID
    /// The new price.
    public var price: Money

    /// Makes a request.
    public init(bundleID: BundleID, price: Money) {
        self.bundleID = bundleID
        self.price = price
    }
}

public import EventTypes

/// A price increase that waits for the subscriber's word (spec rules 106 and 107).
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

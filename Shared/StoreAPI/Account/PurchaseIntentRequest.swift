public import EventTypes

/// A request to begin a purchase outside the app (spec rule 116).
public struct PurchaseIntentRequest: Codable, Hashable, Sendable {
    /// The app that will pay.
    public var bundleID: BundleID
    /// The product to buy.
    public var productID: ProductID
    /// The number of units, from 1 to 10.
    public var quantity: Int

    /// Makes a request.
    public init(bundleID: BundleID, productID: ProductID, quantity: Int = 1) {
        self.bundleID = bundleID
        self.productID = productID
        self.quantity = quantity
    }
}

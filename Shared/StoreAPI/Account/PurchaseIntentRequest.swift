public import EventTypes

/// A purchase that a buyer begins outside the app (spec rule 116).
public struct PurchaseIntentRequest: Codable, Hashable, Sendable {
    /// The app that is to pay it.
    public var bundleID: BundleID
    /// What to buy.
    public var productID: ProductID
    /// How many, from 1 to 10.
    public var quantity: Int

    /// Makes a request.
    public init(bundleID: BundleID, productID: ProductID, quantity: Int = 1) {
        self.bundleID = bundleID
        self.productID = productID
        self.quantity = quantity
    }
}

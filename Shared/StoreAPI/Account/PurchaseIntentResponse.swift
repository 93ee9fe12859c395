public import EventTypes

/// A response with one purchase intent.
public struct PurchaseIntentResponse: Codable, Hashable, Sendable {
    /// The intent.
    public var purchaseIntent: PurchaseIntent
    /// Makes a response.
    public init(purchaseIntent: PurchaseIntent) { self.purchaseIntent = purchaseIntent }
}

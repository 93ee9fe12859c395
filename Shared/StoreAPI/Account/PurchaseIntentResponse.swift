public import EventTypes

/// An answer that holds one purchase intent.
public struct PurchaseIntentResponse: Codable, Hashable, Sendable {
    /// The intent.
    public var purchaseIntent: PurchaseIntent
    /// Makes an answer.
    public init(purchaseIntent: PurchaseIntent) { self.purchaseIntent = purchaseIntent }
}

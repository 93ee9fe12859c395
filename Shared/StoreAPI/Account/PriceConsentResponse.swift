public import EventTypes

/// An answer that holds one price consent.
public struct PriceConsentResponse: Codable, Hashable, Sendable {
    /// The consent.
    public var priceConsent: PriceConsent
    /// Makes an answer.
    public init(priceConsent: PriceConsent) { self.priceConsent = priceConsent }
}

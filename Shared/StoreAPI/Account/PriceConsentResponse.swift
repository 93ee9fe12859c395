public import EventTypes

/// A response with one price consent.
public struct PriceConsentResponse: Codable, Hashable, Sendable {
    /// The consent.
    public var priceConsent: PriceConsent
    /// Makes a response.
    public init(priceConsent: PriceConsent) { self.priceConsent = priceConsent }
}

/// An offer of a subscription that a merchant's server gives to whom it likes (rules S49 to S51 of
/// docs/subscriptions.md).
public struct PromotionalOffer: Codable, Hashable, Sendable {
    /// The id, unique among the offers of the product.
    public var id: OfferID
    /// Whether purchases can have it.
    public var isActive: Bool
    /// The mode, the length and the prices.
    public var terms: OfferTerms

    private enum CodingKeys: String, CodingKey {
        case id, isActive
    }

    /// Makes an offer.
    public init(id: OfferID, isActive: Bool = true, terms: OfferTerms) {
        self.id = id
        self.isActive = isActive
        self.terms = terms
    }

    /// Decodes an offer, whose terms are members beside its id.
    ///
    /// `isActive` is `true` if it is missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(OfferID.self, forKey: .id),
            isActive: try container.decodeIfPresent(Bool.self, forKey: .isActive) ?? true,
            terms: try OfferTerms(from: decoder)
        )
    }

    /// Encodes the offer, with its terms as members beside its id.
    public func encode(to encoder: any Encoder) throws {
        try terms.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(isActive, forKey: .isActive)
    }
}

public import EventTypes

/// An offer of a subscription that has a name, promotional or win-back, with the price of one
/// storefront.
public struct NamedOfferListing: Codable, Hashable, Sendable {
    /// The id, unique among the product's offers of the kind.
    public var id: OfferID
    /// The mode, the length and the price.
    public var terms: OfferListing

    private enum CodingKeys: String, CodingKey {
        case id
    }

    /// Makes a listing.
    public init(id: OfferID, terms: OfferListing) {
        self.id = id
        self.terms = terms
    }

    /// Makes the listing of an offer in a storefront; `nil` if it is not made there.
    public init?(id: OfferID, of terms: OfferTerms, in storefront: Storefront) {
        guard let terms = OfferListing(of: terms, in: storefront) else { return nil }
        self.init(id: id, terms: terms)
    }

    /// Decodes a listing, whose terms are members beside its id.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(OfferID.self, forKey: .id)
        terms = try OfferListing(from: decoder)
    }

    /// Encodes the listing, with its terms as members beside its id.
    public func encode(to encoder: any Encoder) throws {
        try terms.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
    }
}

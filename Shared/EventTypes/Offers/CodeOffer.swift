/// An offer of a subscription that accounts get by redeeming a code (rules S54 to S58 of
/// docs/subscriptions.md).
public struct CodeOffer: Codable, Hashable, Sendable {
    /// The reference name, unique among the code offers of the product.
    public var id: OfferID
    /// Whether codes can be redeemed.
    public var isActive: Bool
    /// The customers who may redeem a code; at least one kind.
    public var customers: [CustomerKind]
    /// Whether a customer who may have the introductory offer gets that first; otherwise it is used up.
    public var isStackable: Bool
    /// The mode, the length and the prices.
    public var terms: OfferTerms

    private enum CodingKeys: String, CodingKey {
        case id, isActive, customers, isStackable
    }

    /// Makes an offer.
    public init(
        id: OfferID,
        isActive: Bool = true,
        customers: [CustomerKind] = CustomerKind.all,
        isStackable: Bool = false,
        terms: OfferTerms
    ) {
        self.id = id
        self.isActive = isActive
        self.customers = customers
        self.isStackable = isStackable
        self.terms = terms
    }

    /// Decodes an offer, whose terms are members beside its id.
    ///
    /// If they are missing, `isActive` is `true`, `customers` are all, and `isStackable` is `false`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(OfferID.self, forKey: .id),
            isActive: try container.decodeIfPresent(Bool.self, forKey: .isActive) ?? true,
            customers: try container.decodeIfPresent([CustomerKind].self, forKey: .customers)
                ?? CustomerKind.all,
            isStackable: try container.decodeIfPresent(Bool.self, forKey: .isStackable) ?? false,
            terms: try OfferTerms(from: decoder)
        )
    }

    /// Encodes the offer, with its terms as members beside its id.
    public func encode(to encoder: any Encoder) throws {
        try terms.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(isActive, forKey: .isActive)
        try container.encode(customers, forKey: .customers)
        try container.encode(isStackable, forKey: .isStackable)
    }
}

/// An offer of a subscription to accounts whose subscription has ended (rules S59 to S61 of
/// docs/subscriptions.md).
public struct WinBackOffer: Codable, Hashable, Sendable {
    /// The id, unique among the win-back offers of the product.
    public var id: OfferID
    /// Whether purchases can have it.
    public var isActive: Bool
    /// The place among the offers that an account may have.
    public var priority: OfferPriority
    /// The months that the account has paid for at least.
    public var paidMonths: Int
    /// The whole months since the end of the subscription, at least.
    public var monthsSinceEnd: Int
    /// The whole months since the end, at most; `nil` for any number.
    public var monthsSinceEndMax: Int?
    /// The months since the account last began a win-back offer, at least; `nil` if it may have
    /// another at any time.
    public var waitMonths: Int?
    /// The time from which on purchases can have it; `nil` for any time.
    public var startsAt: StoreTime?
    /// The time from which on no purchase can have it any more; `nil` if there is none.
    public var endsAt: StoreTime?
    /// The mode, the length and the prices.
    public var terms: OfferTerms

    private enum CodingKeys: String, CodingKey {
        case id, isActive, priority, paidMonths, monthsSinceEnd, monthsSinceEndMax, waitMonths
        case startsAt, endsAt
    }

    /// Makes an offer.
    public init(
        id: OfferID,
        isActive: Bool = true,
        priority: OfferPriority = .normal,
        paidMonths: Int = 1,
        monthsSinceEnd: Int = 0,
        monthsSinceEndMax: Int? = nil,
        waitMonths: Int? = nil,
        startsAt: StoreTime? = nil,
        endsAt: StoreTime? = nil,
        terms: OfferTerms
    ) {
        self.id = id
        self.isActive = isActive
        self.priority = priority
        self.paidMonths = paidMonths
        self.monthsSinceEnd = monthsSinceEnd
        self.monthsSinceEndMax = monthsSinceEndMax
        self.waitMonths = waitMonths
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.terms = terms
    }

    /// Whether purchases can have the offer at a time.
    public func canBeHad(at time: StoreTime) -> Bool {
        isActive && startsAt.map { time >= $0 } ?? true && endsAt.map { time < $0 } ?? true
    }

    /// Decodes an offer, whose terms are members beside its id.
    ///
    /// If they are missing, `isActive` is `true`, `priority` is `normal`, `paidMonths` is 1, and
    /// `monthsSinceEnd` is 0.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(OfferID.self, forKey: .id),
            isActive: try container.decodeIfPresent(Bool.self, forKey: .isActive) ?? true,
            priority: try container.decodeIfPresent(OfferPriority.self, forKey: .priority)
                ?? .normal,
            paidMonths: try container.decodeIfPresent(Int.self, forKey: .paidMonths) ?? 1,
            monthsSinceEnd: try container.decodeIfPresent(Int.self, forKey: .monthsSinceEnd) ?? 0,
            monthsSinceEndMax: try container.decodeIfPresent(Int.self, forKey: .monthsSinceEndMax),
            waitMonths: try container.decodeIfPresent(Int.self, forKey: .waitMonths),
            startsAt: try container.decodeIfPresent(StoreTime.self, forKey: .startsAt),
            endsAt: try container.decodeIfPresent(StoreTime.self, forKey: .endsAt),
            terms: try OfferTerms(from: decoder)
        )
    }

    /// Encodes the offer, with its terms as members beside its id.
    public func encode(to encoder: any Encoder) throws {
        try terms.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(isActive, forKey: .isActive)
        try container.encode(priority, forKey: .priority)
        try container.encode(paidMonths, forKey: .paidMonths)
        try container.encode(monthsSinceEnd, forKey: .monthsSinceEnd)
        try container.encodeIfPresent(monthsSinceEndMax, forKey: .monthsSinceEndMax)
        try container.encodeIfPresent(waitMonths, forKey: .waitMonths)
        try container.encodeIfPresent(startsAt, forKey: .startsAt)
        try container.encodeIfPresent(endsAt, forKey: .endsAt)
    }
}

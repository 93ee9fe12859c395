/// An offer of a subscription, as the catalog has it (rules S40 to S42 of docs/subscriptions.md).
public struct OfferTerms: Codable, Hashable, Sendable {
    /// The way in which it is paid.
    public var mode: OfferMode
    /// The length of one period of the offer.
    ///
    /// It is the whole length of a free trial and of an offer that is paid up front. An offer that is
    /// paid as you go has the product's own periods.
    public var period: SubscriptionPeriod
    /// The number of periods; 1 unless the offer is paid as you go.
    public var numberOfPeriods: Int
    /// The price of one period in each storefront.
    ///
    /// The offer is not made in a storefront without a price. A free trial has prices of zero.
    public var prices: [Storefront: Money]

    /// Makes terms.
    public init(
        mode: OfferMode,
        period: SubscriptionPeriod,
        numberOfPeriods: Int = 1,
        prices: [Storefront: Money]
    ) {
        self.mode = mode
        self.period = period
        self.numberOfPeriods = numberOfPeriods
        self.prices = prices
    }

    /// Decodes terms.
    ///
    /// `numberOfPeriods` is 1 if it is missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            mode: try container.decode(OfferMode.self, forKey: .mode),
            period: try container.decode(SubscriptionPeriod.self, forKey: .period),
            numberOfPeriods: try container.decodeIfPresent(Int.self, forKey: .numberOfPeriods) ?? 1,
            prices: try container.decode([Storefront: Money].self, forKey: .prices)
        )
    }
}

public import EventTypes

/// An offer of a subscription with the price of one storefront.
public struct OfferListing: Codable, Hashable, Sendable {
    /// The way in which it is paid.
    public var mode: OfferMode
    /// The length of one period of the offer.
    public var period: SubscriptionPeriod
    /// The number of periods; 1 unless the offer is paid as you go.
    public var numberOfPeriods: Int
    /// The price of one period; zero for a free trial.
    public var price: Money

    /// Makes a listing.
    public init(
        mode: OfferMode,
        period: SubscriptionPeriod,
        numberOfPeriods: Int,
        price: Money
    ) {
        self.mode = mode
        self.period = period
        self.numberOfPeriods = numberOfPeriods
        self.price = price
    }

    /// Makes the listing of an offer in a storefront; `nil` if it is not made there.
    public init?(of terms: OfferTerms, in storefront: Storefront) {
        guard let price = terms.prices[storefront] else { return nil }
        self.init(
            mode: terms.mode,
            period: terms.period,
            numberOfPeriods: terms.numberOfPeriods,
            price: price
        )
    }
}

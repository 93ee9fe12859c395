public import EventTypes

/// The catalog's answer of today about the product of the next period.
public struct RenewalQuote: Hashable, Sendable {
    /// The storefront of the account today (rule S33).
    public var storefront: Storefront
    /// The price in it; `nil` if the product is not renewed any more (rule S14) or is not sold
    /// there.
    public var price: Money?

    /// Makes a quote.
    public init(storefront: Storefront, price: Money?) {
        self.storefront = storefront
        self.price = price
    }

    /// The price of the next period.
    ///
    /// A decrease counts at once. An increase needs the customer's consent, so the price that the
    /// customer was told stays (rule S31). A price in another currency is that of another storefront.
    func price(insteadOf told: Money) -> Money? {
        guard let price else { return nil }
        guard price.currency == told.currency else { return price }
        return price.minorUnits < told.minorUnits ? price : told
    }
}

extension PeriodOffer {
    /// The offer at no more than the ordinary price.
    ///
    /// An offer that is paid up front keeps its price. That is for its whole length, and the ordinary
    /// price is for one period.
    ///
    /// It ends if the price is that of a storefront with another currency (rule S33), in which nobody
    /// was told a price of the offer.
    func limited(by ordinary: Money) -> PeriodOffer? {
        guard ordinary.currency == price.currency else { return nil }
        var limited = self
        if mode != .payUpFront, ordinary.minorUnits < price.minorUnits { limited.price = ordinary }
        return limited
    }
}

public import EventTypes

/// The rules for win-back offers (rules S59 and S60 of docs/subscriptions.md).
///
/// Pure.
public enum WinBackRules {
    /// The length of a month since the end, or since another offer (rule S59): that of a paid month.
    ///
    /// A hundredth of a day has 864 seconds.
    private static let month = Duration.seconds(864 * PaidTime(months: 1).hundredthsOfDays)

    /// The win-back offers of a product that an account may have, the best first.
    ///
    /// - Parameters:
    ///   - product: The product, with the prices of the time.
    ///   - subscription: The account's subscription in the product's group, in the state that it has at
    ///     the time.
    ///   - storefront: The storefront in which it would buy.
    ///   - time: The time.
    /// - Returns: The first period of each offer.
    public static func offers(
        of product: Product,
        to subscription: Subscription,
        in storefront: Storefront,
        at time: StoreTime
    ) -> [PeriodOffer] {
        guard product.type == .autoRenewableSubscription, product.isOnSale,
            let terms = product.subscription, terms.groupID == subscription.groupID,
            let ordinary = product.prices[storefront]
        else { return [] }
        let open = product.winBackOffers.filter { mayHave($0, subscription, at: time) }
        let offers = open.compactMap { offer in
            PeriodOffer(offer, in: storefront).flatMap { period in
                period.price.currency == ordinary.currency
                    ? (offer: offer, period: period, saving: period.saving(ordinary, terms)) : nil
            }
        }
        return offers.sorted { left, right in
            let isHigh = (left.offer.priority == .high, right.offer.priority == .high)
            if isHigh.0 != isHigh.1 { return isHigh.0 }
            if left.saving != right.saving { return left.saving > right.saving }
            return left.offer.id < right.offer.id
        }.map(\.period)
    }

    /// Whether an account may have an offer at a time, if it is made in the storefront.
    private static func mayHave(
        _ offer: WinBackOffer,
        _ subscription: Subscription,
        at time: StoreTime
    ) -> Bool {
        guard subscription.state == .expired, offer.canBeHad(at: time),
            subscription.totalPaidTime.wholeMonths >= offer.paidMonths
        else { return false }
        let since = months(from: subscription.period.effectiveEnd, to: time)
        guard since >= offer.monthsSinceEnd, since <= offer.monthsSinceEndMax ?? .max else {
            return false
        }
        guard let wait = offer.waitMonths, let last = subscription.wonBackAt else { return true }
        return months(from: last, to: time) >= wait
    }

    /// The whole months between two times.
    private static func months(from start: StoreTime, to end: StoreTime) -> Int {
        Int(max(0, end.duration(since: start).milliseconds) / month.milliseconds)
    }
}

extension PeriodOffer {
    /// The first period of a win-back offer; `nil` if it is not made in the storefront.
    fileprivate init?(_ offer: WinBackOffer, in storefront: Storefront) {
        guard let price = offer.terms.prices[storefront] else { return nil }
        if case .unknown = offer.terms.mode { return nil }
        self.init(
            type: .winBack,
            id: offer.id,
            mode: offer.terms.mode,
            period: offer.terms.period,
            numberOfPeriods: offer.terms.numberOfPeriods,
            price: price
        )
    }

    /// The money that the whole offer saves, in minor units.
    fileprivate func saving(_ ordinary: Money, _ terms: SubscriptionTerms) -> Int64 {
        // The catalog's prices and lengths are far from overflowing.
        let offered = Int64(PaidTime(period).hundredthsOfDays)
        let whole = ordinary.minorUnits * offered / Int64(PaidTime(terms.period).hundredthsOfDays)
        return (whole - price.minorUnits) * Int64(numberOfPeriods)
    }
}

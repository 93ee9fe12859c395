public import EventTypes

/// The rules for price increases of subscriptions (rules S120 and S121).
///
/// Pure.
public struct PriceIncreaseRules: Sendable {
    /// The decisions of a store about increases.
    public struct Policy: Sendable {
        /// The storefronts whose law asks for consent to every increase.
        public var consentStorefronts: Set<Storefront> = []
        /// The time between the notice and the renewal that costs more.
        public var notice: Duration = .days(30)
        /// The same for subscriptions that renew every week.
        public var weeklyNotice: Duration = .days(7)
        /// The time after an increase without consent in which the next one needs consent.
        public var quietTime: Duration = .days(365)

        /// Makes Apple's policy.
        public init() {}
    }

    private let policy: Policy

    /// Makes the rules.
    public init(policy: Policy) { self.policy = policy }

    /// Whether a customer has to agree to an increase (rule S120).
    ///
    /// A raise of more than half that also exceeds a limit needs consent, one that the law of the
    /// storefront asks about, and one soon after another. The renewal that would cost more counts, as
    /// the increase itself may have begun to count long before.
    public func needsConsent(
        to increase: PriceIncrease,
        from old: SubscriptionProduct,
        of subscription: Subscription
    ) -> Bool {
        if policy.consentStorefronts.contains(subscription.storefront) { return true }
        if let raisedAt = subscription.raisedAt,
            subscription.period.end < raisedAt.advanced(by: policy.quietTime)
        {
            return true
        }
        let raise = increase.price.minorUnits - old.price.minorUnits
        let isYearly = old.terms.period.isAYearOrMore
        let limit = Self.limit(in: old.price.currency) * (isYearly ? 10 : 1)
        // Halves are compared without doubling, which could overflow.
        return raise > old.price.minorUnits / 2 && raise > limit
    }

    /// The time at which a customer is asked or informed: the notice before the end of a period, but
    /// not before it begins.
    ///
    /// The notice is the one that the increase was scheduled with, whatever the setting is by now.
    func askingTime(of increase: PriceIncrease, in period: PaidPeriod) -> StoreTime {
        let kept = increase.notice.map { Duration.milliseconds($0) }
        let time = period.end.advanced(by: .zero - (kept ?? notice(for: period.length)))
        return max(period.start, time)
    }

    /// The time from which on an increase counts for a subscription that learns of it at a time.
    ///
    /// If there is no time left for the notice in the running period, the next renewal still costs the
    /// old price.
    func effectiveTime(
        of increase: PriceIncrease,
        for subscription: Subscription,
        knownAt time: StoreTime
    ) -> StoreTime {
        guard askingTime(of: increase, in: subscription.period) < time else {
            return increase.effectiveAt
        }
        return max(increase.effectiveAt, subscription.period.end.advanced(by: .milliseconds(1)))
    }

    /// The notice of an increase of a product with such periods.
    func notice(for period: SubscriptionPeriod) -> Duration {
        period.unit == .week || period.unit == .day ? policy.weeklyNotice : policy.notice
    }

    /// Five US dollars in minor units of a currency, rounded to what people pay there.
    ///
    /// Currencies that are not listed have the limit of zero, so that every raise of more than half
    /// needs consent.
    private static func limit(in currency: Currency) -> Int64 { limits[currency.rawValue] ?? 0 }

    private static let limits: [String: Int64] = [
        "AUD": 800, "BRL": 2500, "CAD": 700, "CHF": 500, "CNY": 3500, "DKK": 3500, "EUR": 500,
        "GBP": 500, "HKD": 4000, "INR": 40_000, "JPY": 700, "KRW": 7000, "MXN": 10_000,
        "NOK": 5000, "NZD": 800, "PLN": 2000, "SEK": 5000, "SGD": 700, "USD": 500,
    ]
}

extension SubscriptionPeriod {
    /// Whether it lasts a year or longer.
    fileprivate var isAYearOrMore: Bool {
        switch unit {
        case .year: true
        case .month: value >= 12
        case .week: value >= 52
        case .day: value >= 365
        }
    }
}

import EventTypes

/// The rules for the offers that a subscription may have (rules S40 and S41 of
/// docs/subscriptions.md).
///
/// Pure.
enum OfferRules {
    /// The modes in which an offer may be paid.
    static let modes: [OfferMode] = [.freeTrial, .payAsYouGo, .payUpFront]

    /// The most offers of one kind that a product has, and the most of them that are active.
    static let countMax = 100
    static let activeCountMax = 10
    /// The most active win-back offers of a product.
    static let activeWinBackCountMax = 5
    /// The months that an account may have to have paid for (rule S59).
    static let paidMonths = Array(1...24) + [36, 48, 60]
    /// The months between two win-back offers.
    static let waitMonths: ClosedRange<Int64> = 2...24
    /// The shortest time for which a win-back offer can be had.
    static let winBackTimeMin = Duration.seconds(3 * 86_400)

    /// A problem of an offer, and the member that has it.
    struct Problem: Hashable, Sendable {
        let field: String
        let text: String
    }

    /// The lengths that one period of an offer may have.
    static func periods(
        of mode: OfferMode,
        for terms: SubscriptionTerms
    ) -> [SubscriptionPeriod] {
        let upFront = [
            SubscriptionPeriod(1, .week), SubscriptionPeriod(1, .month),
            SubscriptionPeriod(2, .month), SubscriptionPeriod(3, .month),
            SubscriptionPeriod(6, .month), SubscriptionPeriod(1, .year),
        ]
        return switch mode {
        case .freeTrial: [SubscriptionPeriod(3, .day), SubscriptionPeriod(2, .week)] + upFront
        case .payUpFront: upFront
        case .payAsYouGo: [terms.period]
        case .unknown: []
        }
    }

    /// The largest number of periods of an offer: a year of months, or twelve weeks.
    static func numberOfPeriodsMax(of mode: OfferMode, for terms: SubscriptionTerms) -> Int {
        guard mode == .payAsYouGo else { return 1 }
        return switch terms.period.unit {
        case .month: max(1, 12 / terms.period.value)
        case .week, .day: 12
        case .year: 1
        }
    }

    /// The problems of an offer of a product.
    ///
    /// - Parameters:
    ///   - offer: The offer.
    ///   - terms: The product's own terms.
    ///   - prices: The product's ordinary prices.
    /// - Returns: The problems, each with the member of the offer that has it; empty if there are none.
    static func problems(
        of offer: OfferTerms,
        for terms: SubscriptionTerms,
        meeting prices: [Storefront: Money]
    ) -> [Problem] {
        var problems: [Problem] = []
        let periods = periods(of: offer.mode, for: terms)
        if !periods.contains(offer.period) {
            let known = periods.map(\.description).joined(separator: ", ")
            let text = "is '\(offer.period)'; for \(offer.mode) it must be one of \(known)"
            problems.append(Problem(field: "period", text: text))
        }
        let countMax = numberOfPeriodsMax(of: offer.mode, for: terms)
        if !(1...countMax).contains(offer.numberOfPeriods) {
            let text =
                "is \(offer.numberOfPeriods); for \(offer.mode) of \(terms.period) it must be "
            let range = countMax == 1 ? "1" : "from 1 to \(countMax)"
            problems.append(Problem(field: "numberOfPeriods", text: text + range))
        }
        for (storefront, price) in offer.prices.sorted(by: { $0.key < $1.key }) {
            let text = problem(of: price, of: offer, for: terms, insteadOf: prices[storefront])
            if let text { problems.append(Problem(field: "prices.\(storefront)", text: text)) }
        }
        return problems
    }

    /// The problem of an offer's price in a storefront; `nil` if there is none.
    private static func problem(
        of price: Money,
        of offer: OfferTerms,
        for terms: SubscriptionTerms,
        insteadOf ordinary: Money?
    ) -> String? {
        guard let ordinary else { return "is the price of an offer where the product has none" }
        guard price.currency == ordinary.currency else {
            return "is in \(price.currency), and the product's price in \(ordinary.currency)"
        }
        if offer.mode == .freeTrial { return price.isZero ? nil : "must be 0: a trial is free" }
        if price.isZero { return "must not be 0, unless the mode is freeTrial" }
        // An offer that is paid up front replaces as many ordinary periods as its length begins.
        let count = max(
            1,
            (offer.period.usualDays + terms.period.usualDays - 1) / terms.period.usualDays
        )
        guard let whole = ordinary.multiplied(by: count) else { return nil }
        return price.minorUnits < whole.minorUnits
            ? nil : "must be below \(whole), the ordinary price of the same time"
    }
}

extension SubscriptionPeriod {
    /// The number of days, with months of 30 and years of 360 days, so that twelve months are a year.
    fileprivate var usualDays: Int {
        switch unit {
        case .day: value
        case .week: value * 7
        case .month: value * 30
        case .year: value * 360
        }
    }
}

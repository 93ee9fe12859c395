import EventTypes
import OperatorCore

/// A subscription in short lines: its period, its next charge, and what is not paid.
///
/// Pure.
struct SubscriptionFacts {
    private let subscription: Subscription
    private let actionAt: StoreTime?

    init(_ listed: ListedSubscription) {
        subscription = listed.subscription
        actionAt = listed.actionAt
    }

    /// The tone of its state.
    var tone: NowField.Tone {
        switch subscription.state {
        case .active: subscription.isAutoRenewOn ? .good : .plain
        case .inGracePeriod: .warn
        case .inBillingRetryPeriod: .bad
        case .expired, .revoked, .unknown: .plain
        }
    }

    /// The next charge, or the reason why there is none.
    var next: String {
        if let charge = subscription.charge {
            return "\(charge.price) for \(charge.product.id), being charged since "
                + PlainWords.second(charge.startedAt)
        }
        guard let product = subscription.nextProduct, let price = subscription.nextPrice else {
            return "no charge, \(reason)"
        }
        let offer = subscription.nextOffer.map { ", \(Self.words(for: $0))" } ?? ""
        let time = actionAt.map { " at \(PlainWords.second($0))" } ?? ""
        return "\(price) for \(product.id)\(time)\(offer)"
    }

    /// Names and values, for the page of the subscription.
    var lines: [(name: String, value: String)] {
        let period = subscription.period
        let terms = subscription.product.terms
        var lines = [
            ("period", "\(PlainWords.second(period.start)) until \(PlainWords.second(period.end))"),
            (
                "paid for it",
                "\(period.price), \(period.offer.map(Self.words) ?? "the ordinary price")"
            ),
            ("next charge", next),
            ("renews", subscription.isAutoRenewOn ? "yes" : "no, \(reason)"),
        ]
        for made in subscription.extensions ?? [] {
            let time = PlainWords.second(made.extendedAt)
            let kind = ExtensionFields.words(for: made.reasonCode)
            lines.append(("extended", "by \(made.days) days at \(time), \(kind)"))
        }
        if let increase = subscription.priceIncrease {
            lines.append(("higher price", Self.words(for: increase)))
        }
        if let end = subscription.gracePeriodEnd {
            lines.append(("grace until", PlainWords.second(end)))
        }
        if let end = subscription.billingRetryEnd {
            lines.append(("charged again until", PlainWords.second(end)))
        }
        if subscription.attempts > 0 {
            let last = subscription.lastTry.map { ", the last at \(PlainWords.second($0))" } ?? ""
            lines.append(("tries for the next period", "\(subscription.attempts)\(last)"))
        }
        lines += [
            (
                "group",
                "\(terms.groupID), level \(terms.level), periods of \(PlainWords.period(terms.period))"
            ),
            ("began", PlainWords.second(subscription.startedAt)),
            ("storefront", "\(subscription.storefront)"), ("app", "\(subscription.bundleID)"),
        ]
        return lines
    }

    /// An offer in words: how it is paid, which one it is, and which of its periods this is.
    static func words(for offer: PeriodOffer) -> String {
        let mode =
            switch offer.mode {
            case .freeTrial: "free trial"
            case .payAsYouGo: "lower price"
            case .payUpFront: "lower price, paid up front,"
            case .unknown(let mode): "offer (\(mode))"
            }
        let words = "\(mode) by the \(SubscriptionWords.name(of: offer))"
        guard offer.numberOfPeriods > 1 else { return words }
        return "\(words), period \(offer.number) of \(offer.numberOfPeriods)"
    }

    /// A higher price in words: from when on, and what the customer says to it.
    static func words(for increase: PriceIncrease) -> String {
        let answer =
            switch increase.status {
            case .scheduled: "the subscriber is not told yet"
            case .pending: "the subscriber is asked"
            case .agreed: "the subscriber has agreed"
            case .declined: "the subscriber has declined"
            case .notified: "the subscriber is informed"
            case .unknown(let status): status
            }
        return "\(increase.price) from \(PlainWords.second(increase.effectiveAt)), \(answer)"
    }

    private var reason: String {
        switch subscription.autoRenewOffReason {
        case .customer?: "cancelled"
        case .billing?: "it was never paid"
        case .notForSale?: "the product is not renewed any more"
        case .price?: "the subscriber did not agree to the price"
        case .refund?: "it was refunded"
        case .revoked?: "it was taken away"
        case .ended?, nil: "it has ended"
        case .unknown(let reason)?: reason
        }
    }
}

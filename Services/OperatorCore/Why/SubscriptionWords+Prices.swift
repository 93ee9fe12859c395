import EventTypes

/// Price increases in plain words.
extension SubscriptionWords {
    /// A change that a higher price made, in one line.
    static func words(forPriceIn change: SubscriptionChanged) -> String {
        let subscription = change.subscription
        let price = subscription.priceIncrease.map { "\($0.price)" } ?? "a higher price"
        let from = moment(subscription.priceIncrease?.effectiveAt)
        let end = moment(subscription.period.end)
        return switch change.cause {
        case .priceIncreaseScheduled:
            "the price rises to \(price) from \(from) on: the subscriber is told in time"
        case .priceIncreaseAsked: "asked to agree to \(price) from \(from) on"
        case .priceIncreaseNotified: "informed of \(price) from \(from) on, without consent"
        case .priceIncreaseAgreed: "agreed to \(price) from \(from) on"
        case .priceIncreaseDeclined: "declined \(price): ends when it would be charged"
        case .priceIncreaseWithdrawn:
            "the increase was withdrawn: renews at \(end) with \(next(subscription))"
        case .priceNotAgreed: "lapsed: the subscriber did not agree to the new price"
        default: "changed: \(change.cause.rawValue)"
        }
    }
}

import EventTypes
import Subscriptions

/// The kinds of work that fall due for subscriptions, as an advance of the store's clock reports them.
enum DueWork: String, CaseIterable, Sendable {
    /// First tries to charge for a next period.
    case renewals
    /// Tries after one that failed.
    case repeatedCharges = "repeated charges"
    /// Questions about higher prices, and notices of them.
    case priceNotices = "price notices"
    /// Ends of periods, of grace and of billing retry.
    case ends = "ended periods"

    /// The kind of an action of a subscription.
    init(_ action: DueAction.Kind, of subscription: Subscription) {
        switch action {
        case .priceIncrease: self = .priceNotices
        case .renewalCharge, .retryCharge:
            self = subscription.attempts == 0 ? .renewals : .repeatedCharges
        case .periodEnd, .graceEnd, .retryEnd: self = .ends
        }
    }
}

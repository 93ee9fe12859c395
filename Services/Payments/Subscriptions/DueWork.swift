import EventTypes
import Subscriptions

/// The kinds of work that fall due for subscriptions, as an advance of the store's clock reports them.
enum DueWork: String, CaseIterable, Sendable {
    /// First tries to charge for a next period.
    case renewals
    /// Tries after one that failed.
    case repeatedCharges = "repeated charges"
    /// Ends of periods, of grace and of billing retry.
    case ends = "ended periods"

    /// The kind of an action of a subscription.
    init(_ action: DueAction.Kind, of subscription: Subscription) {
        self = action.isEnd ? .ends : subscription.attempts == 0 ? .renewals : .repeatedCharges
    }
}

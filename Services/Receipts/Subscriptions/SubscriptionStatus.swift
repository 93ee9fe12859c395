import EventTypes
import Foundation
import Subscriptions

/// The state of a subscription by the time (rule S205 of docs/subscriptions.md).
///
/// Pure.
enum SubscriptionStatus {
    /// The rules for the state that follows from the dates, which needs no calendar.
    private static let dueActions = DueActionRules(
        policy: SubscriptionPolicy(calendar: PeriodCalendar(timeZone: .gmt))
    )

    /// Returns the state that follows from the dates, until an overdue action is carried out.
    static func state(of subscription: Subscription, at time: StoreTime) -> SubscriptionState {
        dueActions.state(of: subscription, at: time)
    }
}

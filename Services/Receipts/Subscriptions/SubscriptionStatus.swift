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

    /// Returns a subscription as its dates tell it, until an overdue action is carried out.
    static func present(_ subscription: Subscription, at time: StoreTime) -> Subscription {
        dueActions.present(subscription, at: time)
    }
}

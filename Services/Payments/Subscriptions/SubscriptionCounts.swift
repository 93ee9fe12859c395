import EventTypes

/// The numbers of subscriptions that run, that are not paid, and for which something is due.
struct SubscriptionCounts: Hashable, Sendable {
    /// The number of running subscriptions.
    var running: Int64 = 0
    /// The number of running subscriptions by their stored state.
    var states: [SubscriptionState: Int64] = [:]
    /// The number of charges before the end of a period that are due within the next hour, late ones
    /// included.
    var renewalsDue: Int64 = 0
    /// The number of actions of any kind that are overdue.
    var late: Int64 = 0
    /// The time at which the oldest of these was due; `nil` if there is none.
    var oldestLate: StoreTime?
}

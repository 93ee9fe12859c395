/// The invariants of subscriptions, numbered as in docs/subscriptions.md.
public enum SubscriptionInvariant: Int, CaseIterable, Hashable, Sendable {
    /// No two periods overlap.
    case noOverlap = 1
    /// Every gap between two periods has an explanation.
    case noUnexplainedGap = 2
    /// Each paid period has exactly one charge. Every other charge was returned.
    case oneChargeAPeriod = 3
    /// Refunds never exceed the price, and prorated ones are right to the minor unit.
    case refundsAreRight = 4
    /// The subscription follows from its changes, and its state from its dates.
    case stateFollowsFromChanges = 5
    /// Every end is counted from its anchor.
    case endsAreCounted = 6
    /// At most one charge is open. A running subscription has one due action, an ended one none.
    case oneDueAction = 7
    /// An account has one introductory offer in a group. The periods of an offer follow each other.
    case offersAreUsedOnce = 8
    /// Every change has its notifications once, and every notification has its change.
    case notifiedOnce = 9
    /// Other services show what the subscription says.
    case viewsAgree = 10
    /// Members of a family have what the organizer's subscription gives. Not checked here: members
    /// have shares, which `reconcile` compares with the periods.
    case familyFollows = 11
    /// Nobody is charged more than the price they were shown.
    case noPriceAboveAnnounced = 12
    /// An account has at most one running subscription in a group of an app.
    case oneRunning = 13
    /// Grace and billing retry are as long as set, from the period's end.
    case limitsAreKept = 14
    /// Extensions are recorded once each, and as short and as few as allowed.
    case extensionsAreLimited = 15
}

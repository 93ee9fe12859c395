import EventTypes
import OperatorCore

extension ReplayOutline {
    /// The plan that a page shows of what a dry run found.
    ///
    /// - Parameter ends: The end of each service's log: later events are not replayed.
    /// - Returns: The plan.
    func plan(ends: [String: String]) -> ReplayPlan {
        ReplayPlan(
            events: events,
            keys: keyCount,
            first: first?.description,
            last: last?.description,
            topics: counts,
            unapplied: unapplied,
            refused: refused,
            ends: ends
        )
    }
}

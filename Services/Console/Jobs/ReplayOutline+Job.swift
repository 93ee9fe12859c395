import EventTypes
import OperatorCore

extension ReplayPlan {
    /// Makes the plan that a page shows of what a dry run found.
    ///
    /// - Parameters:
    ///   - outline: What the dry run found.
    ///   - ends: The end of each service's log: later events are not replayed.
    init(_ outline: ReplayOutline, ends: [String: String]) {
        self.init(
            events: outline.events,
            keys: outline.keyCount,
            first: outline.first?.description,
            last: outline.last?.description,
            topics: outline.counts,
            unapplied: outline.unapplied,
            refused: outline.refused,
            ends: ends
        )
    }
}

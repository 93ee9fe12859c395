package import Seals

/// The events that a service published in a while, counted by type.
package struct EventCounts: Hashable, Sendable {
    /// The number of events of each type.
    package var types: [String: Int]
    /// The place of the last event that was counted.
    package var place: LogPlace
    /// Whether there were too many to count, so that there were at least as many.
    package var isCut: Bool

    package init(types: [String: Int] = [:], place: LogPlace, isCut: Bool = false) {
        self.types = types
        self.place = place
        self.isCut = isCut
    }
}

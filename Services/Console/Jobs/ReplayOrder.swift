import EventTypes
import OperatorCore

/// The events that a replay sends, to whom, and how fast.
struct ReplayOrder: Codable, Hashable, Sendable {
    let selection: ReplaySelection
    /// The consumer that the events are meant for; `nil` for all.
    let consumer: String?
    /// Events per second.
    let rate: Int
}

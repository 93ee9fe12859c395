import EventTypes
import Messaging
import Seals

/// An event of a service's log.
struct ToldEvent: Sendable {
    let id: EventID
    let type: EventType
    let topic: String
    let key: String
    let cursor: OutboxCursor
    let time: StoreTime
    let traceID: String?
    /// Whether the broker has the event.
    let isPublished: Bool

    /// The event's chain and place, for the question who has applied it.
    var entry: AppliedEvents.Entry {
        AppliedEvents.Entry(id: id, topic: topic, key: key, cursor: cursor)
    }
}

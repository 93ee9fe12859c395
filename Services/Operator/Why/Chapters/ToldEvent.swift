import EventTypes

/// An event of a service's log.
struct ToldEvent: Sendable {
    let id: EventID
    let type: EventType
    let topic: String
    let time: Timestamp
    let traceID: String?
    /// Whether the broker has the event.
    let isPublished: Bool
}

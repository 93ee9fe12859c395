public import Seals

/// A row of the outbox: an event and its place.
public struct OutboxRow: Sendable {
    /// The row's place.
    public let place: LogPlace
    /// The event.
    public let event: OutboxEvent

    /// Makes a row of an event and its place.
    public init(place: LogPlace, event: OutboxEvent) {
        self.place = place
        self.event = event
    }
}

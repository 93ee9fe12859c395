public import Seals

/// A row of the outbox: an event and its place.
public struct OutboxRow: Sendable {
    /// The row's place.
    public let cursor: OutboxCursor
    /// The event.
    public let event: OutboxEvent

    /// Makes a row of an event and its place.
    public init(cursor: OutboxCursor, event: OutboxEvent) {
        self.cursor = cursor
        self.event = event
    }
}

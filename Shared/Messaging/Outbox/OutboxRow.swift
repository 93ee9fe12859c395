public import Seals

/// A row of the outbox: an event and its place.
public struct OutboxRow: Sendable {
    /// Where it stands.
    public let cursor: OutboxCursor
    /// What it says.
    public let event: OutboxEvent

    /// Puts an event at a place.
    public init(cursor: OutboxCursor, event: OutboxEvent) {
        self.cursor = cursor
        self.event = event
    }
}

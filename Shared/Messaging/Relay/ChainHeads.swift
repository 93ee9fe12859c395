import Seals

/// The newest event of each chain up to a place in a service's log.
///
/// Pure.
struct ChainHeads: Equatable, Sendable {
    private(set) var places: [EventChain: OutboxCursor]

    init(_ places: [EventChain: OutboxCursor] = [:]) {
        self.places = places
    }

    /// Appends an event to its chain.
    ///
    /// - Returns: The place of the event before it in the chain; `OutboxCursor.start` for the first.
    mutating func append(_ row: OutboxRow) -> OutboxCursor {
        let chain = EventChain(topic: row.event.topic, key: row.event.key)
        return places.updateValue(row.cursor, forKey: chain) ?? .start
    }

    /// The chains whose newest event is another one in earlier heads.
    func changed(since earlier: ChainHeads) -> [EventChain] {
        places.filter { earlier.places[$0.key] != $0.value }.map(\.key)
    }
}

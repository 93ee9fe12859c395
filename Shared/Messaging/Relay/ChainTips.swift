import Seals

/// The tips of event chains: the newest event of each, up to a place in a service's log.
///
/// Pure.
struct ChainTips: Equatable, Sendable {
    private(set) var places: [EventChain: LogPlace]

    init(_ places: [EventChain: LogPlace] = [:]) {
        self.places = places
    }

    /// Appends an event to its chain.
    ///
    /// - Returns: The place of the event before it in the chain; `LogPlace.start` for the first.
    mutating func append(_ row: OutboxRow) -> LogPlace {
        let chain = EventChain(topic: row.event.topic, key: row.event.key)
        return places.updateValue(row.place, forKey: chain) ?? .start
    }

    /// The chains whose newest event is another one in earlier tips.
    func changed(since earlier: ChainTips) -> [EventChain] {
        places.filter { earlier.places[$0.key] != $0.value }.map(\.key)
    }
}

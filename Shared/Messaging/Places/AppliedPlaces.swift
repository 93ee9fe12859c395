import Seals

/// The place of a consumer in each event chain, and the verdict on an event that follows from it.
///
/// Every event of a chain at or below its place is done: applied, or stored as a dead letter. An
/// event above it may be applied only if the event before it in the chain is done, so no event is
/// passed over. It does not matter who sent a message, when, how often, or in which partition it
/// is.
///
/// Pure.
struct AppliedPlaces: Sendable {
    /// The decision of a consumer on an event.
    enum Verdict: Hashable, Sendable {
        /// It has not been done, and everything before it has: it is applied now.
        case due
        /// It is done.
        case done
        /// An event before it in its chain is missing. It must come again after that one.
        case early
    }

    private(set) var places: [EventChain: LogPlace]
    /// The chains whose place has moved.
    private(set) var moved: Set<EventChain> = []

    init(_ places: [EventChain: LogPlace]) {
        self.places = places
    }

    /// Judges the next event of a batch, and moves the place of its chain if it is due.
    mutating func admit(_ event: ReceivedEvent, of chain: EventChain) -> Verdict {
        let place = places[chain] ?? .start
        if event.place <= place { return .done }
        if let previous = event.previous, previous > place { return .early }
        places[chain] = event.place
        moved.insert(chain)
        return .due
    }
}

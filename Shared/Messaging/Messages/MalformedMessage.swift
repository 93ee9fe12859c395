import EventTypes

/// A message that is not an event of a store.
struct MalformedMessage: Error, CustomStringConvertible {
    /// The type under which such a message is stored as a dead letter.
    static let type = EventType(rawValue: "malformed")

    let reason: String

    var description: String { reason }

    /// Refuses to apply what was never an event: it can only be discarded.
    static func refuse(in events: [ReceivedEvent]) throws(MalformedMessage) {
        guard events.contains(where: { $0.type == type }) else { return }
        throw MalformedMessage(reason: "the message was never an event; discard it")
    }
}

import EventTypes

/// An event of a version that this consumer does not know, of a name that it acts on.
///
/// Passed by, its effect would be missing without a word; read as the version that is known, it would
/// be read half. It is refused by name instead, and waits among the dead letters, with what follows it
/// of its account, for a version that knows it.
struct UnknownVersion: Error, CustomStringConvertible {
    let event: ReceivedEvent

    var description: String {
        "\(event.type) at \(event.topic)/\(event.partition)/\(event.offset) is of no version that is "
            + "known here"
    }

    /// Refuses events of unknown versions.
    ///
    /// - Parameters:
    ///   - events: Events of any type; those of other names are nobody's business here.
    ///   - types: What the consumer acts on.
    /// - Throws: It, for the first such event.
    static func refuse(
        in events: [ReceivedEvent],
        known types: Set<EventType>
    ) throws(UnknownVersion) {
        // Nearly always every event is of a known type or of a name that is not acted on.
        for event in events where !types.contains(event.type) {
            let name = event.type.name
            guard types.contains(where: { $0.name == name }) else { continue }
            throw UnknownVersion(event: event)
        }
    }
}

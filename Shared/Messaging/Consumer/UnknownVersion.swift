import EventTypes

/// An event whose name this consumer handles, but in a version it does not know.
///
/// To skip the event would lose its effect silently; to read it as a known version would lose part
/// of it. It is refused instead. It waits among the dead letters, with the later events of its key,
/// for a release that knows its version.
struct UnknownVersion: Error, CustomStringConvertible {
    let event: ReceivedEvent

    var description: String {
        "\(event.type) at \(event.topic)/\(event.partition)/\(event.offset) has an unknown version"
    }

    /// Refuses events of unknown versions.
    ///
    /// - Parameters:
    ///   - events: Events of any type. Events of other names are ignored.
    ///   - types: The types that the consumer handles.
    /// - Throws: ``UnknownVersion`` for the first such event.
    static func refuse(
        in events: [ReceivedEvent],
        known types: Set<EventType>
    ) throws(UnknownVersion) {
        // Almost every event has a known type, or a name that the consumer does not handle. Some topics
        // have many of the latter, so the handled names are found out once.
        var handled: Set<Substring>?
        for event in events where !types.contains(event.type) {
            let names = handled ?? Set(types.map(\.name))
            handled = names
            guard names.contains(event.type.name) else { continue }
            throw UnknownVersion(event: event)
        }
    }
}

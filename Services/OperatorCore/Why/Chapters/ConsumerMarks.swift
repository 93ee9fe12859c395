import EventTypes

/// The events that a consumer has applied or could not apply.
struct ConsumerMarks: Sendable {
    /// The events that were applied.
    var done: Set<EventID> = []
    /// The events that are dead, parked, redriven or discarded.
    var letters: [EventID: (id: Int64, state: String)] = [:]
    /// The first dead letter of the account, whatever it is about.
    var blocker: Int64?
}

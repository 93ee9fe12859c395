import EventTypes

/// What a consumer did with events.
struct ConsumerMarks: Sendable {
    /// What is done.
    var done: Set<EventID> = []
    /// What could not be, or waits, or waits no more.
    var letters: [EventID: (id: Int64, state: String)] = [:]
    /// The first dead letter of the account, whatever it is about.
    var blocker: Int64?
}

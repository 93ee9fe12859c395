/// The dry run of a replay: what it would send, and what the consumers would do.
struct ReplayPlan: Codable, Hashable, Sendable {
    let events: Int
    /// The number of accounts and products that the events belong to.
    let keys: Int
    let first: String?
    let last: String?
    /// The number of events of each type, by topic.
    let topics: [String: [String: Int]]
    /// For each consumer, the number of events that it has not applied and so would apply.
    let unapplied: [String: Int]
    /// The reasons for which events are not sent, with their numbers.
    let refused: [String: Int]
    /// The end of each service's log: later events are not replayed.
    let ends: [String: String]

    /// The number of events that are sent.
    var total: Int { events - refused.values.reduce(0, +) }
}

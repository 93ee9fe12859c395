import EventTypes
import StoreTracing

/// What the commit of a batch of outcomes leaves to do.
struct OutcomeReport: Sendable {
    /// Attempts that are to be carried out at once; this process has the lease.
    var followUps: [ProcessorAttempt] = []
    /// When the next of those that are tried again falls due.
    var nextDue: Timestamp?
    /// What became of transactions, and of how many.
    var moves: [Move: Int] = [:]

    /// The events, as steps of their transactions' traces.
    var steps: [(type: EventType, step: SpanStep)] = []

    /// One kind of change.
    struct Move: Hashable, Sendable {
        let type: EventType
        let reason: FailureReason?
    }
}

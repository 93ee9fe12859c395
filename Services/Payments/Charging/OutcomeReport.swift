import EventTypes
import StoreTracing

/// The result of committing a batch of outcomes, with the work that remains.
struct OutcomeReport: Sendable {
    /// The attempts to carry out at once; this process has their leases.
    var followUps: [ProcessorAttempt] = []
    /// The time at which the next attempt that is tried again falls due.
    var nextDue: MachineTime?
    /// The number of transactions for each kind of change.
    var moves: [Move: Int] = [:]

    /// The events, as steps of their transactions' traces.
    var steps: [(type: EventType, step: SpanStep)] = []

    /// One kind of change.
    struct Move: Hashable, Sendable {
        let type: EventType
        let reason: FailureReason?
    }
}

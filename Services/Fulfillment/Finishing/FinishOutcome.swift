import EventTypes

/// The outcome of a request to finish.
enum FinishOutcome: Hashable, Sendable {
    /// The transaction is finished, by this request or an earlier one.
    case finished(at: StoreTime)
    /// The transaction stays in the queue.
    case refused(QueueRules.Refusal)
}

import EventTypes

/// The outcome of a refund or a reversal.
enum UndoOutcome: Hashable, Sendable {
    /// It is undone; `reference` is the processor's own id of the refund or the reversal.
    case undone(reference: ProcessorReference)
    /// The processor has begun, and will know the outcome later.
    case pending(reference: ProcessorReference)
    /// The processor cannot do it, and no money moved; `reference` is its own id of a refund that has
    /// failed, if it has made one.
    case failed(FailureReason, reference: ProcessorReference? = nil)
    /// The processor takes no further calls for a time, and has done nothing.
    case throttled(retryAfter: Duration)
    /// The processor could not take the call; a later call may succeed.
    case unavailable
    /// The answer is lost: the money may have moved.
    case unknown
}

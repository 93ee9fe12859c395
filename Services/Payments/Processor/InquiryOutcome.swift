import EventTypes

/// The result of an inquiry.
enum InquiryOutcome: Hashable, Sendable {
    case charged(reference: ProcessorReference, amount: Money)
    case declined(FailureReason, advice: DeclineAdvice?)
    case refunded(reference: ProcessorReference)
    case reversed(reference: ProcessorReference)
    /// The charge or the refund has begun, and its outcome is not known yet.
    case pending(reference: ProcessorReference)
    /// The buyer has to act first.
    case needsAction(BuyerAction, reference: ProcessorReference)
    /// The charge was ended before it was made, and never will be.
    case cancelled
    /// The refund or the reversal has failed, and no money moved; `reference` is the processor's own
    /// id of the refund, if it has one.
    case failed(FailureReason, reference: ProcessorReference? = nil)
    /// The processor knows of nothing under this key.
    ///
    /// If the result is final, nothing will ever be done under it: no call is on its way any more.
    case notFound(isFinal: Bool)
    /// The processor could not take the call; a later call may succeed.
    case unavailable
}

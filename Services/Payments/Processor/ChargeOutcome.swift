import EventTypes

/// The outcome of a charge.
enum ChargeOutcome: Hashable, Sendable {
    /// The buyer was charged; `reference` is the processor's own id of the charge, and `amount` is
    /// what it took.
    case charged(reference: ProcessorReference, amount: Money)
    /// The buyer was not charged and will not be.
    case declined(FailureReason, advice: DeclineAdvice?)
    /// The payment needs an approval first.
    case needsApproval
    /// The buyer has to act first, as on a page of their bank.
    case needsAction(BuyerAction, reference: ProcessorReference)
    /// The processor has begun the charge, and will know its outcome later.
    case processing(reference: ProcessorReference)
    /// The processor takes no further calls for a time, and has done nothing.
    case throttled(retryAfter: Duration)
    /// The processor could not take the call; a later call may succeed.
    case unavailable
    /// The answer is lost: the buyer may have been charged.
    case unknown(reference: ProcessorReference?)
}

/// The page on which a buyer has to act.
///
/// Only this buyer may see its address, so it is in no event, no log and no table.
struct BuyerAction: Hashable, Sendable, CustomStringConvertible {
    let url: String

    /// A text without the address.
    var description: String { "an action of the buyer" }
}

import EventTypes

/// The outcome of an attempt, as far as a call or an inquiry shows it.
enum AttemptOutcome: Hashable, Sendable {
    case charged(reference: ProcessorReference, amount: Money)
    case declined(FailureReason, advice: DeclineAdvice? = nil)
    /// An approval is needed; `wasApproved` says whether the call already stated one.
    case needsApproval(wasApproved: Bool)
    /// The buyer has to act.
    case needsAction(reference: ProcessorReference)
    /// The buyer did not act in time, and the processor has ended the charge.
    case cancelled
    case refunded(reference: ProcessorReference)
    case reversed(reference: ProcessorReference)
    /// The processor has begun, and will know the outcome later.
    case processing(reference: ProcessorReference)
    /// The processor cannot refund, or cannot reverse a refund, under the key of a generation; or the
    /// refund with a reference has failed.
    case undoFailed(FailureReason, generation: Int, reference: ProcessorReference? = nil)
    /// The processor took no call, and takes none for a time.
    case throttled(retryAfter: Duration)
    /// The outcome is unknown, or nothing was done yet; `wasCalled` says whether the processor was
    /// called.
    case tryAgain(wasCalled: Bool, reference: ProcessorReference? = nil)
    /// Nothing was done under the key, and never will be: the next call needs another key.
    ///
    /// It holds only for an attempt that is still as the inquiry saw it.
    case keyIsSpent(generation: Int, step: AttemptStep)
    /// An inquiry found that nothing was done, nor will be, and no calls are left.
    case exhausted
    /// The approval was not given in time.
    case approvalExpired

    /// The processor's own id of the refund that it tells of; `nil` if it tells of none.
    var refundReference: ProcessorReference? {
        switch self {
        case .refunded(let reference), .processing(let reference): reference
        case .undoFailed(_, _, let reference): reference
        default: nil
        }
    }

    /// The outcome as that of a try that the books had lost (rule S524), which another card may have made.
    ///
    /// So it does not say that a bank has refused the present card for good.
    var ofLostTry: AttemptOutcome {
        guard case .declined(let reason, .never?) = self else { return self }
        return .declined(reason, advice: nil)
    }
}

/// An outcome and its attempt.
struct AttemptResult: Hashable, Sendable {
    let key: AttemptKey
    let outcome: AttemptOutcome
    /// Whether the transaction may be one of a subscription, whose row then has to be locked first.
    var mayConcernSubscription = true
    /// Whether it is of a try to renew, whose transaction names its subscription.
    var isOfRenewal = false
}

extension AttemptOutcome {
    init(_ outcome: ChargeOutcome, wasApproved: Bool) {
        switch outcome {
        case .charged(let reference, let amount):
            self = .charged(reference: reference, amount: amount)
        case .declined(let reason, let advice): self = .declined(reason, advice: advice)
        case .needsApproval: self = .needsApproval(wasApproved: wasApproved)
        case .needsAction(_, let reference): self = .needsAction(reference: reference)
        case .processing(let reference): self = .processing(reference: reference)
        case .throttled(let pause): self = .throttled(retryAfter: pause)
        case .unavailable: self = .tryAgain(wasCalled: true)
        case .unknown(let reference): self = .tryAgain(wasCalled: true, reference: reference)
        }
    }

    init(ofRefund outcome: UndoOutcome, generation: Int) {
        switch outcome {
        case .undone(let reference): self = .refunded(reference: reference)
        default: self.init(ofOpen: outcome, generation: generation)
        }
    }

    init(ofReversal outcome: UndoOutcome, generation: Int) {
        switch outcome {
        case .undone(let reference): self = .reversed(reference: reference)
        default: self.init(ofOpen: outcome, generation: generation)
        }
    }

    /// The outcome of a refund or a reversal that is not done.
    private init(ofOpen outcome: UndoOutcome, generation: Int) {
        switch outcome {
        case .pending(let reference): self = .processing(reference: reference)
        case .failed(let reason, let reference):
            self = .undoFailed(reason, generation: generation, reference: reference)
        case .throttled(let pause): self = .throttled(retryAfter: pause)
        case .undone, .unavailable, .unknown: self = .tryAgain(wasCalled: true)
        }
    }
}

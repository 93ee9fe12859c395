import EventTypes

/// The outcome of an attempt, as far as a call or an inquiry shows it.
enum AttemptOutcome: Hashable, Sendable {
    case charged(reference: ProcessorReference)
    case declined(FailureReason)
    /// An approval is needed; `wasApproved` says whether the call already stated one.
    case needsApproval(wasApproved: Bool)
    case refunded(reference: ProcessorReference)
    case reversed(reference: ProcessorReference)
    /// The outcome is unknown, or nothing was done yet; `wasCalled` says whether the processor was
    /// called.
    case tryAgain(wasCalled: Bool)
    /// An inquiry found that nothing was done, and no calls are left.
    case exhausted
    /// The approval was not given in time.
    case approvalExpired
}

/// An outcome and its attempt.
struct AttemptResult: Hashable, Sendable {
    let key: AttemptKey
    let outcome: AttemptOutcome
    /// Whether the transaction may be one of a subscription, whose row then has to be locked first.
    var mayConcernSubscription = true
}

extension AttemptOutcome {
    init(_ outcome: ChargeOutcome, wasApproved: Bool) {
        switch outcome {
        case .charged(let reference): self = .charged(reference: reference)
        case .declined(let reason): self = .declined(reason)
        case .needsApproval: self = .needsApproval(wasApproved: wasApproved)
        case .unavailable, .unknown: self = .tryAgain(wasCalled: true)
        }
    }

    init(ofRefund outcome: UndoOutcome) {
        switch outcome {
        case .undone(let reference): self = .refunded(reference: reference)
        case .unavailable, .unknown: self = .tryAgain(wasCalled: true)
        }
    }

    init(ofReversal outcome: UndoOutcome) {
        switch outcome {
        case .undone(let reference): self = .reversed(reference: reference)
        case .unavailable, .unknown: self = .tryAgain(wasCalled: true)
        }
    }
}

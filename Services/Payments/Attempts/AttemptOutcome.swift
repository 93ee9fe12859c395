import EventTypes

/// What is known about an attempt after a call or an inquiry.
enum AttemptOutcome: Hashable, Sendable {
    case charged(reference: String)
    case declined(FailureReason)
    /// Says whether the call told the processor that the payment is approved.
    case needsApproval(wasApproved: Bool)
    case refunded(reference: String)
    /// Not known, or not done yet: inquire later. Says whether the processor was called to do it.
    case tryAgain(wasCalled: Bool)
    /// An inquiry found that nothing was done, and the tries are used up.
    case exhausted
    /// The wait for an approval is over.
    case approvalExpired
}

/// An outcome, and the attempt that it is of.
struct AttemptResult: Hashable, Sendable {
    let key: AttemptKey
    let outcome: AttemptOutcome
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

    init(_ outcome: RefundOutcome) {
        switch outcome {
        case .refunded(let reference): self = .refunded(reference: reference)
        case .unavailable, .unknown: self = .tryAgain(wasCalled: true)
        }
    }
}

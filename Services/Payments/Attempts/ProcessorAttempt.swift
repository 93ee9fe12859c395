import EventTypes

/// What an attempt asks of the processor.
///
/// The raw values stand in the table.
enum AttemptKind: String, Hashable, Sendable {
    case charge
    case refund
}

/// Which attempt: a transaction has at most one of each kind.
struct AttemptKey: Hashable, Sendable, Comparable {
    let transactionID: TransactionID
    let kind: AttemptKind

    static func < (left: Self, right: Self) -> Bool {
        (left.transactionID, left.kind.rawValue) < (right.transactionID, right.kind.rawValue)
    }
}

/// Where an attempt stands.
///
/// The raw values stand in the table.
enum AttemptStep: String, Hashable, Sendable {
    /// Somebody calls the processor, or has to when the attempt falls due.
    case calling
    /// The same product is being bought by another transaction; its outcome decides.
    case waiting
    /// Somebody has to approve; when it falls due, the approval has expired.
    case awaitingApproval = "awaiting_approval"
    /// Done.
    case settled
}

/// A charge or refund that is owed: committed before the processor is called, so that no crash can
/// lose it.
///
/// `dueAt` is the moment from which anybody may take it: the end of a lease, the time of the next
/// try, or the end of the wait for an approval. `nil` means that nobody has to do anything.
struct ProcessorAttempt: Hashable, Sendable {
    var transactionID: TransactionID
    var kind: AttemptKind
    var id: AttemptID
    var step: AttemptStep
    var paymentMethod: String
    var amount: Money
    var isApproved = false
    /// How often the processor was called without an outcome.
    var callCount = 0
    /// Of a refund: the charge it gives back.
    var chargeReference: String?
    /// The processor's own name for what it did.
    var reference: String?
    /// Why it is settled: `charged`, `refunded`, `granted`, or the reason of the failure.
    var outcome: String?
    var dueAt: Timestamp?
    /// The transaction whose outcome it waits for.
    var waitsFor: TransactionID?

    var key: AttemptKey { AttemptKey(transactionID: transactionID, kind: kind) }
}

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

/// How often and how long the processor is asked again.
///
/// Pure.
struct AttemptPolicy: Sendable {
    /// How long whoever took an attempt has it for itself.
    var lease = Duration.seconds(10)
    /// How often a charge is called before it fails, and the pause before each next call.
    var callsMax = 5
    var pause = Duration.milliseconds(100)
    var pauseMax = Duration.seconds(30)
    /// How long an approver has.
    var approvalExpiry = Duration.seconds(24 * 60 * 60)

    /// The pause after a number of calls without an outcome.
    func pause(afterCalls calls: Int) -> Duration {
        min(pause * (1 << min(max(calls - 1, 0), 20)), pauseMax)
    }

    /// What an inquiry that found nothing means: a charge is called again until its calls are used
    /// up; a refund that was promised is called for as long as it takes.
    func isExhausted(_ attempt: ProcessorAttempt) -> Bool {
        attempt.kind == .charge && attempt.callCount >= callsMax
    }
}

extension ProcessorAttempt {
    /// Ends the attempt: nobody has to act on it again.
    mutating func settle(_ outcome: String, reference: String? = nil) {
        step = .settled
        self.outcome = outcome
        self.reference = reference ?? self.reference
        dueAt = nil
        waitsFor = nil
    }
}

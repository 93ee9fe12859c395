import EventTypes
import StoreAPI

/// The step that an attempt has reached.
///
/// The raw values are stored in the table.
enum AttemptStep: String, Hashable, Sendable {
    /// A process is calling the processor, or has to when the attempt falls due.
    case calling
    /// Another transaction is buying the same product, and its outcome decides.
    case waiting
    /// The attempt needs an approval, until the approval expires.
    case awaitingApproval = "awaiting_approval"
    /// The processor has begun, and will know the outcome later.
    case processing
    /// The buyer has to act, as on a page of their bank.
    case awaitingAction = "awaiting_action"
    /// A refund or a reversal that the processor cannot make, so that no money moved; or a refund
    /// that its transaction does not take, because a bank took the money first.
    case failed
    /// The attempt is finished.
    case settled

    /// Whether the processor has to be asked for the outcome.
    var isOpenAtProcessor: Bool {
        switch self {
        case .calling, .processing, .awaitingAction: true
        case .waiting, .awaitingApproval, .failed, .settled: false
        }
    }
}

/// A charge, refund or reversal to carry out.
///
/// It is committed before the processor is called, so no crash can lose it.
///
/// From `dueAt` on, any process may take the attempt. It is the end of a lease or the time of the
/// next call, by the machines' clock. `nil` means that nobody has to call the processor. An attempt
/// that waits for an approval is also taken when the approval expires, by the store's clock.
struct ProcessorAttempt: Hashable, Sendable {
    var transactionID: TransactionID
    var kind: AttemptKind
    /// The number among the attempts of this kind, from 1.
    var number = 1
    var id: AttemptID
    var step: AttemptStep
    var paymentMethod: PaymentMethod
    var amount: Money
    var isApproved = false
    /// The number of calls without an outcome.
    var callCount = 0
    /// The time since which the processor is to be called; `nil` while nobody has to.
    ///
    /// It is `nil` as well until a call is not taken, or not made in time. An ordinary payment never has
    /// it.
    var callableSince: MachineTime?
    /// The time before which the processor was certainly not called; `nil` while nobody has to.
    var firstCalledAt: MachineTime?
    /// The generation of the key of its calls.
    var generation = 1
    /// The time from which on the processor may have charged for the same period by an attempt that the
    /// books have lost (rule S524); `nil` if it cannot, or once it was asked.
    var doubtedSince: MachineTime?
    /// Whether the processor can be called without an inquiry: the attempt has only been queued, or
    /// the processor did not take the call.
    var isUncalled = false
    /// The processor's own id of what the attempt undoes: of the charge that a refund gives back, or
    /// of the refund that a reversal takes back; `nil` for a charge.
    var undoes: ProcessorReference?
    /// Whether a refund takes the product away from the buyer.
    var revokes = false
    /// The key of the request that asked for a refund, if it had one.
    @Boxed var requestKey: UsedKey? = nil
    /// The number of the try to charge for a subscription's next period, or 0 for a purchase of a
    /// subscription; `nil` for all other products.
    var renewalTry: Int?
    /// Whether the buyer has asked for this charge of what a subscription owes, and may act on the bank's
    /// page.
    ///
    /// It is `false` for a purchase, whose buyer is always present.
    var isBuyerPresent = false
    /// Whether a refund follows from a change of a subscription, which has booked it already.
    var isOwed = false
    /// The act that asked for a refund or a reversal.
    @Boxed var act: Act? = nil
    /// The processor's own id of what the attempt did or began.
    var reference: ProcessorReference?
    /// The processor's own id of a refund for the attempt that has failed.
    ///
    /// What is said of that refund from before then counts no more.
    var failedReference: ProcessorReference?
    /// The processor's advice after a decline.
    var advice: DeclineAdvice?
    /// The attempt's end; `nil` until then.
    var end: AttemptEnd?
    var dueAt: MachineTime?
    /// The end of the wait for an approval.
    var approvalEndsAt: StoreTime?
    /// The end of the time that the buyer has to act, by the machines' clock.
    var actionEndsAt: MachineTime?
    /// The transaction whose outcome the attempt waits for.
    @Boxed var waitsFor: TransactionID? = nil
    /// Whether its next call repeats one whose outcome nobody knows; it is not stored.
    var isRepeated = false
    /// Whether a search has just shown that nothing was called for it; it is not stored.
    var isCertainlyUncalled = false

    /// The idempotency key of its calls.
    var callKey: CallKey { CallKey(attemptID: id, kind: kind, generation: generation) }

    var key: AttemptKey { AttemptKey(transactionID: transactionID, kind: kind, number: number) }

    /// Whether no money moved for a refund or a reversal in the end: it has failed, if only after the
    /// processor had confirmed it.
    var hasFailed: Bool {
        step == .failed || step == .settled && reference != nil && reference == failedReference
    }

    /// Whether the books have a refund as made that the processor has to make once more, because the
    /// first one has failed.
    var isMadeAgain: Bool { end == .refunded && step.isOpenAtProcessor }

    /// Whether the processor has to be asked for a lost attempt before anything else.
    var isDoubtful: Bool { doubtedSince != nil && step == .calling }

    /// Whether it charges for a subscription's next period.
    var isRenewal: Bool { kind == .charge && (renewalTry ?? 0) > 0 }
}

extension ProcessorAttempt {
    /// Finishes the attempt for good.
    mutating func settle(_ end: AttemptEnd, reference: ProcessorReference? = nil) {
        step = .settled
        self.end = end
        self.reference = reference ?? self.reference
        dueAt = nil
        approvalEndsAt = nil
        actionEndsAt = nil
        waitsFor = nil
    }

    /// Notes that the processor can do nothing, of a refund or a reversal.
    mutating func fail(_ reason: FailureReason) {
        settle(.failed(reason))
        step = .failed
    }

    /// Makes the attempt wait for the outcome of another transaction.
    mutating func wait(for holder: TransactionID) {
        step = .waiting
        waitsFor = holder
        dueAt = nil
        approvalEndsAt = nil
    }
}

extension ProcessorAttempt {
    /// Makes the refunds that the books have lost with a charge, which this one takes over.
    ///
    /// Nobody knows what each was for. The buyer loses the period by the one with which all is given back.
    ///
    /// - Parameters:
    ///   - refunds: The refunds, oldest first.
    ///   - lost: The lost charge; `nil` if there is none.
    ///   - time: The present, from which inquiries about them are counted.
    ///   - due: The time of the next inquiry about them.
    ///   - unused: Makes an id for a refund that has none.
    /// - Returns: The refunds, which the processor has begun.
    func taking(
        _ refunds: [LostRefund],
        of lost: AttemptID?,
        at time: MachineTime,
        dueAt due: MachineTime,
        unused: () -> AttemptID
    ) -> [ProcessorAttempt] {
        guard lost != nil else { return [] }
        var returned: Int64 = 0
        return refunds.enumerated().map { index, refund in
            returned += refund.amount.minorUnits
            return ProcessorAttempt(
                transactionID: transactionID,
                kind: .refund,
                number: index + 1,
                id: refund.id ?? unused(),
                step: .processing,
                paymentMethod: paymentMethod,
                amount: refund.amount,
                firstCalledAt: time,
                generation: refund.generation,
                undoes: refund.charge,
                revokes: returned >= amount.minorUnits,
                reference: refund.reference,
                dueAt: due
            )
        }
    }
}

import EventTypes
import Ledger

/// Applies the outcomes of calls to attempts, transactions and the ledger.
extension SettlementPlan {
    /// Applies one outcome to its attempt and transaction.
    mutating func apply(_ result: AttemptResult) {
        guard let attempt = attempts[result.key], records[result.key.transactionID] != nil else {
            return contradict(
                "An outcome is of no attempt that is known",
                result.key.transactionID
            )
        }
        if let failed = attempt.failedReference, result.outcome.refundReference == failed {
            return  // It is known, or was said before the refund has failed.
        }
        switch result.outcome {
        case .charged(let reference, let amount):
            applyCharge(attempt, reference, amount)
        case .declined(let reason, let advice):
            fail(attempt, reason, advice)
        case .cancelled:
            fail(attempt, .interrupted)
        case .exhausted:
            // The processor may have begun the charge meanwhile, which is waited for.
            if attempt.step != .processing, attempt.step != .awaitingAction {
                fail(attempt, .processorRefused)
            }
        case .needsApproval(let wasApproved):
            // A late answer to a call made before the approval says nothing about the call after
            // it.
            if wasApproved || records[attempt.transactionID]?.approval == nil {
                awaitApproval(attempt)
            }
        case .approvalExpired:
            let move = apply(.expireApproval, to: attempt.transactionID)
            if case .moved = move { change(attempt.key) { $0.settle(.failed(.approvalExpired)) } }
        case .refunded(let reference):
            applyRefund(attempt, reference)
        case .reversed(let reference):
            applyReversal(attempt, reference)
        case .tryAgain(let wasCalled, let reference):
            tryAgain(attempt, wasCalled: wasCalled, reference)
        case .processing(let reference):
            wait(attempt, .processing, reference)
        case .needsAction(let reference):
            wait(attempt, .awaitingAction, reference)
        case .throttled(let pause):
            throttle(attempt, for: pause)
        case .keyIsSpent(let generation, let step):
            callUnderAnotherKey(attempt, insteadOf: generation, at: step)
        case .undoFailed(let reason, let generation, let reference):
            failUndo(attempt, reason, generation: generation, reference)
        }
        tellWait(for: attempt.key)
    }

    /// Applies a confirmed charge.
    ///
    /// One of another amount than was asked buys nothing. Like every charge that its transaction does
    /// not take, it is posted as stray and refunded.
    private mutating func applyCharge(
        _ attempt: ProcessorAttempt,
        _ reference: ProcessorReference,
        _ amount: Money
    ) {
        if attempt.end == .charged, (attempt.reference ?? reference) != reference {
            return contradict(
                "The buyer was charged twice, and the charge \(reference.rawValue) is not returned",
                attempt.transactionID
            )
        }
        let isRight = amount == attempt.amount
        if !isRight {
            contradict(
                "A charge is of \(amount), and \(attempt.amount) was asked for",
                attempt.transactionID
            )
            guard attempt.end != .charged else { return }
            apply(.fail(.processorRefused), to: attempt.transactionID)
        }
        let move =
            isRight
            ? apply(command(ofChargeBy: attempt), to: attempt.transactionID)
            : .refused(.chargeIsStray)
        if attempt.end != .charged {
            change(attempt.key) { $0.settle(.charged, reference: reference) }
        }
        guard case .refused(let refusal) = move else { return }
        contradict(
            "A charge was confirmed for a transaction that does not take it; it is returned",
            attempt.transactionID,
            refusal
        )
        returnStray(attempt, reference, amount)
    }

    /// Posts a stray charge, and gives back what is not given back yet.
    ///
    /// A charge that the books had lost may come with refunds from the lost time (decision 79).
    private mutating func returnStray(
        _ attempt: ProcessorAttempt,
        _ reference: ProcessorReference,
        _ amount: Money
    ) {
        let refunds = attempts.values.filter {
            $0.transactionID == attempt.transactionID && $0.kind == .refund
        }
        guard refunds.isEmpty || attempt.end != .charged,
            let record = records[attempt.transactionID]
        else { return }
        post(
            LedgerRules.strayCharge(
                id: ids.posting(at: time),
                transactionID: attempt.transactionID,
                buyer: record.transaction.accountID,
                gross: amount,
                time: time
            ),
            of: record,
            gross: amount,
            as: .strayCharged
        )
        let rest = refunds.reduce(amount.minorUnits) { $0 - $1.amount.minorUnits }
        guard rest > 0 else { return }
        refund(
            attempt.transactionID,
            RefundPlan(
                number: (refunds.map(\.number).max() ?? 0) + 1,
                amount: Money(minorUnits: rest, currency: amount.currency),
                revokes: true
            ),
            by: attempt.paymentMethod,
            of: reference
        )
    }

    /// Applies a confirmed refund.
    mutating func applyRefund(_ attempt: ProcessorAttempt, _ reference: ProcessorReference) {
        if attempt.end == .refunded, (attempt.reference ?? reference) != reference {
            contradict(
                "\(reference.rawValue) has given back what was given back before",
                attempt.transactionID
            )
        }
        guard attempt.step != .settled, let record = records[attempt.transactionID] else { return }
        let charge = attempts[AttemptKey(transactionID: attempt.transactionID, kind: .charge)]
        if record.transaction.state != .purchased, charge?.step.isOpenAtProcessor == true {
            // It was lost with its charge, which the books have to know first (decision 79).
            return tryAgain(attempt, wasCalled: false, reference)
        }
        guard !attempt.isMadeAgain else {
            return change(attempt.key) { $0.settle(.refunded, reference: reference) }
        }
        guard returnsStrayCharge(attempt) else {
            let refund = TransactionCommand.refund(
                number: attempt.number,
                amount: attempt.amount,
                revokes: attempt.revokes
            )
            let isApplied = contradict(
                unlessApplied: refund,
                to: attempt.transactionID,
                by: attempt.act
            )
            // If a bank took the rest back meanwhile, the refund is in no book.
            change(attempt.key) { attempt in
                attempt.settle(.refunded, reference: reference)
                if !isApplied { attempt.fail(.processorRefused) }
            }
            return
        }
        change(attempt.key) { $0.settle(.refunded, reference: reference) }
        // The refund returns a stray charge, so the transaction itself does not change.
        post(
            LedgerRules.strayChargeReturn(
                id: ids.posting(at: time),
                transactionID: attempt.transactionID,
                number: attempt.number,
                buyer: record.transaction.accountID,
                gross: attempt.amount,
                time: time
            ),
            of: record,
            gross: attempt.amount,
            as: .strayChargeReturned
        )
    }

    private mutating func applyReversal(
        _ attempt: ProcessorAttempt,
        _ reference: ProcessorReference
    ) {
        guard attempt.step != .settled else { return }
        change(attempt.key) { $0.settle(.reversed, reference: reference) }
        contradict(
            unlessApplied: .reverseRefund(number: attempt.number),
            to: attempt.transactionID,
            by: attempt.act
        )
    }

    /// Applies what the processor has done with money, and records it if the rules refuse it.
    ///
    /// - Returns: Whether the rules took it.
    @discardableResult
    private mutating func contradict(
        unlessApplied command: TransactionCommand,
        to id: TransactionID,
        by act: Act?
    ) -> Bool {
        guard case .refused(let refusal) = apply(command, to: id, by: act) else { return true }
        contradict("The processor has moved money that the transaction does not take", id, refusal)
        return false
    }

    private mutating func fail(
        _ attempt: ProcessorAttempt,
        _ reason: FailureReason,
        _ advice: DeclineAdvice? = nil
    ) {
        guard attempt.kind == .charge else { return tryAgain(attempt, wasCalled: true) }
        // A renewal is not resumed. If its buyer was away, or has left the bank's page, it stays owed.
        let lacksBuyer =
            attempt.isRenewal && advice == .authenticate
            || attempt.isBuyerPresent && reason == .interrupted
        let failure = lacksBuyer ? FailureReason.buyerMustAct : reason
        let move = apply(.fail(failure), to: attempt.transactionID)
        if case .refused(let refusal) = move {
            return contradict(
                "The processor says that a purchased transaction was not charged",
                attempt.transactionID,
                refusal
            )
        }
        guard attempt.step != .settled else { return }
        if advice == .never { refusedMethods.insert(attempt.paymentMethod) }
        change(attempt.key) { attempt in
            attempt.settle(.failed(failure))
            attempt.advice = advice
        }
    }

    private mutating func awaitApproval(_ attempt: ProcessorAttempt) {
        let move = apply(.awaitApproval, to: attempt.transactionID)
        guard case .moved(let record, _, _) = move else { return }
        guard record.transaction.state == .deferred else {
            change(attempt.key) { $0.settle(.failed(FailureReason.processorRefused)) }
            return
        }
        let end = time.advanced(by: policy.approvalExpiry)
        change(attempt.key) { attempt in
            attempt.step = .awaitingApproval
            attempt.dueAt = nil
            attempt.approvalEndsAt = end
            attempt.actionEndsAt = nil
        }
    }
}

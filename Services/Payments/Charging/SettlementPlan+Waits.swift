import EventTypes

/// Applies outcomes after which the processor has to be asked again, or can do nothing.
extension SettlementPlan {
    /// Schedules another call of an attempt, or another inquiry about what the processor has begun.
    mutating func tryAgain(
        _ attempt: ProcessorAttempt,
        wasCalled: Bool,
        _ reference: ProcessorReference? = nil
    ) {
        guard attempt.step.isOpenAtProcessor else { return }
        let hasBegun = attempt.step != .calling
        let calls = attempt.callCount + (wasCalled && !hasBegun ? 1 : 0)
        let pause = pause(after: attempt, wasCalled: wasCalled, calls: calls)
        let due = hasBegun ? nextInquiry(about: attempt) : machineTime.advanced(by: pause)
        change(attempt.key) { attempt in
            attempt.callCount = calls
            attempt.reference = reference ?? attempt.reference
            attempt.isUncalled = false
            attempt.dueAt = due
        }
        expect(due)
    }

    /// The pause before an attempt is called or inquired about again that the processor has not begun.
    private func pause(
        after attempt: ProcessorAttempt,
        wasCalled: Bool,
        calls: Int
    ) -> Duration {
        guard !wasCalled else { return policy.pause(afterCalls: calls) }
        guard !policy.isExhausted(attempt) else { return policy.pauseMax }
        let age = attempt.firstCalledAt.map { machineTime.duration(since: $0) }
        return policy.pause(unansweredAfter: age)
    }

    /// Waits for a charge, a refund or a reversal that the processor has begun, or for the buyer.
    ///
    /// The processor's reference is written at once, so that the next inquiry names it.
    mutating func wait(
        _ attempt: ProcessorAttempt,
        _ step: AttemptStep,
        _ reference: ProcessorReference
    ) {
        guard attempt.step.isOpenAtProcessor else {
            // The processor said so before the end, as to an app that asked for the bank's page meanwhile.
            let isLate = attempt.kind == .charge && attempt.step == .settled
            guard !isLate || attempt.reference != reference else { return }
            return contradict(
                "The processor has begun what was given up",
                attempt.transactionID
            )
        }
        let due = nextInquiry(about: attempt)
        let (time, end) = (machineTime, machineTime.advanced(by: policy.actionExpiry))
        change(attempt.key) { attempt in
            attempt.step = step
            attempt.reference = reference
            attempt.firstCalledAt = attempt.firstCalledAt ?? time
            attempt.isUncalled = false
            attempt.actionEndsAt = step == .awaitingAction ? attempt.actionEndsAt ?? end : nil
            attempt.dueAt = due
        }
        expect(due)
    }

    /// Tells whether a payment waits for its buyer, if that has changed.
    ///
    /// The page has an end, after which nobody waits any more, even if the processor cannot be told. A
    /// renewal is in no queue before it is paid, so nothing is told of it.
    mutating func tellWait(for key: AttemptKey) {
        guard key.kind == .charge, let attempt = attempts[key],
            let transaction = records[key.transactionID]?.transaction,
            transaction.state == .purchasing, transaction.reason != .renewal
        else { return }
        let isOpen = attempt.actionEndsAt.map { machineTime < $0 } ?? false
        let isAwaited = attempt.step == .awaitingAction && isOpen
        guard isAwaited != (transaction.awaitsBuyer ?? false) else { return }
        apply(.awaitBuyer(isAwaited), to: key.transactionID)
    }

    /// Waits because the processor takes no call; the call that it did not take does not count.
    ///
    /// So the time of the first call begins anew with the next one, however long the wait. Not if
    /// another call may be under way: an earlier one without an outcome, or one of a process whose
    /// lease has ended.
    mutating func throttle(_ attempt: ProcessorAttempt, for pause: Duration) {
        guard attempt.step == .calling else { return }
        let due = machineTime.advanced(by: max(pause, policy.pause))
        let leaseEnd = attempt.firstCalledAt?.advanced(by: policy.lease)
        let isUncalled = attempt.callCount == 0 && leaseEnd.map { machineTime < $0 } ?? true
        let since = attempt.callableSince ?? attempt.firstCalledAt ?? machineTime
        change(attempt.key) { attempt in
            attempt.callableSince = since
            attempt.isUncalled = isUncalled
            if isUncalled { attempt.firstCalledAt = nil }
            attempt.dueAt = due
        }
        expect(due)
    }

    /// Calls the processor under the next generation of the key.
    ///
    /// Nothing happens if the attempt has moved since the inquiry: another process may have found
    /// the same, or the processor has begun after all. So a key is replaced once.
    ///
    /// - Parameters:
    ///   - attempt: The attempt.
    ///   - generation: The generation of the key under which nothing was done.
    ///   - step: The step of the attempt at the inquiry.
    mutating func callUnderAnotherKey(
        _ attempt: ProcessorAttempt,
        insteadOf generation: Int,
        at step: AttemptStep
    ) {
        guard attempt.step.isOpenAtProcessor, attempt.step == step,
            attempt.generation == generation
        else { return }
        change(attempt.key) { attempt in
            attempt.generation += 1
            attempt.reference = nil
            attempt.firstCalledAt = nil
        }
        call(attempt.key)
    }

    /// Notes that the processor cannot make a refund or a reversal.
    ///
    /// Nobody would ask again for what the store itself owes the buyer, or for what stays booked as
    /// given back. So it is tried again later, under the next generation of the key, as often as it
    /// fails. It is not if a bank has taken the money back meanwhile.
    ///
    /// - Parameters:
    ///   - attempt: The refund or the reversal.
    ///   - reason: The reason.
    ///   - generation: The generation of the key under which it was asked for.
    ///   - reference: The processor's id of the refund that has failed; `nil` if it made none.
    mutating func failUndo(
        _ attempt: ProcessorAttempt,
        _ reason: FailureReason,
        generation: Int,
        _ reference: ProcessorReference?
    ) {
        guard attempt.kind != .charge, attempt.step != .failed,
            attempt.generation == generation
        else { return }
        if attempt.end == .refunded, attempt.step == .settled, let reference {
            return failMade(attempt, reference)
        }
        contradict(
            "The processor could not make \(attempt.kind.rawValue) \(attempt.number)",
            attempt.transactionID
        )
        guard attempt.step.isOpenAtProcessor else { return }
        change(attempt.key) { $0.failedReference = reference ?? $0.failedReference }
        let isOwed = (attempt.isOwed || attempt.isMadeAgain) && !isTakenByBank(attempt)
        guard isOwed || returnsStrayCharge(attempt) else {
            return change(attempt.key) { attempt in
                // What a bank has taken is with the buyer, and so the books stay.
                if attempt.isMadeAgain { return attempt.settle(.refunded) }
                attempt.fail(reason)
            }
        }
        callLater(attempt.key)
    }

    /// Notes that a refund has failed which the processor had confirmed before.
    ///
    /// The buyer does not have the money. So the refund is reversed, which gives the product back, and
    /// somebody may refund again. What the store owes stays booked as given back, and is tried again
    /// until it is. So does the refund of a period that its subscription would not have back.
    private mutating func failMade(_ attempt: ProcessorAttempt, _ reference: ProcessorReference) {
        // Another refund, of an earlier key or beside a dispute, says nothing about this one.
        guard attempt.kind == .refund, attempt.reference == reference else { return }
        contradict(
            "Refund \(attempt.number) has failed after the processor had confirmed it",
            attempt.transactionID
        )
        change(attempt.key) { $0.failedReference = reference }
        guard !attempt.isOwed, !returnsStrayCharge(attempt), !tookPeriodForGood(attempt) else {
            return callLater(attempt.key)
        }
        let key = AttemptKey(
            transactionID: attempt.transactionID,
            kind: .reversal,
            number: attempt.number
        )
        let move = apply(
            .reverseRefund(number: attempt.number),
            to: attempt.transactionID,
            by: attempts[key]?.act
        )
        guard case .moved = move else { return }
        guard attempts[key] == nil else {
            // Somebody has asked for a reversal, which is now made by itself.
            return change(key) { $0.settle(.reversed, reference: reference) }
        }
        var reversal = ProcessorAttempt(
            transactionID: attempt.transactionID,
            kind: .reversal,
            number: attempt.number,
            id: ids.attempt(at: time),
            step: .settled,
            paymentMethod: attempt.paymentMethod,
            amount: attempt.amount,
            undoes: reference
        )
        reversal.settle(.reversed, reference: reference)
        addSettled(reversal)
    }

    /// Lets a refund or a reversal be called later, under the next generation of its key.
    private mutating func callLater(_ key: AttemptKey) {
        let due = machineTime.advanced(by: policy.pollMax)
        change(key) { attempt in
            attempt.step = .calling
            attempt.generation += 1
            attempt.reference = nil
            attempt.firstCalledAt = nil
            attempt.callCount = 0
            attempt.isUncalled = true
            attempt.dueAt = due
        }
    }

    /// Whether a bank took what a refund was to give back, by a dispute.
    private func isTakenByBank(_ attempt: ProcessorAttempt) -> Bool {
        guard attempt.kind == .refund, let record = records[attempt.transactionID] else {
            return false
        }
        if attempt.isMadeAgain {
            let refunds = record.transaction.refunds ?? []
            return refunds.contains { $0.dispute != nil && $0.reversedAt == nil }
        }
        return attempt.amount.minorUnits > record.transaction.refundableAmount.minorUnits
    }

    /// Whether a refund took a period away that its reversal would not give back.
    ///
    /// The buyer would have neither the money nor the service. It is not so if a bank took the rest,
    /// of which the processor then refunds nothing, or if somebody has asked for a reversal.
    private func tookPeriodForGood(_ attempt: ProcessorAttempt) -> Bool {
        let reversal = AttemptKey(
            transactionID: attempt.transactionID,
            kind: .reversal,
            number: attempt.number
        )
        guard attempt.revokes, attempts[reversal] == nil,
            let transaction = records[attempt.transactionID]?.transaction,
            transaction.subscription != nil
        else { return false }
        let standing = (transaction.refunds ?? []).filter { $0.reversedAt == nil }
        guard standing.contains(where: { $0.number == attempt.number }),
            !standing.contains(where: { $0.dispute != nil })
        else { return false }
        return standing.contains { $0.revokes && $0.number != attempt.number }
            || !subscriptions.wouldGiveBack(transaction)
    }

    /// Whether a refund returns a charge that its transaction did not take.
    func returnsStrayCharge(_ attempt: ProcessorAttempt) -> Bool {
        guard attempt.kind == .refund, let record = records[attempt.transactionID] else {
            return false
        }
        return record.transaction.state != .purchased || record.transaction.price.isZero
    }

    /// The time of the next inquiry about what the processor has begun.
    ///
    /// If the buyer has to act, it is no later than the end of the time for it. After that end the
    /// processor is soon told to end the charge.
    private func nextInquiry(about attempt: ProcessorAttempt) -> MachineTime {
        let age = machineTime.duration(since: attempt.firstCalledAt ?? machineTime)
        let due = machineTime.advanced(by: policy.poll(after: age))
        guard let end = attempt.actionEndsAt else { return due }
        return min(due, max(end, machineTime.advanced(by: policy.poll)))
    }
}

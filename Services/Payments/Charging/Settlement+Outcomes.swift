import EventTypes
import Ledger
import Logging
import Messaging

/// What each outcome of a call means for its attempt, its transaction and the books.
extension Settlement {
    /// Applies an outcome to its attempt and transaction.
    mutating func apply(_ result: AttemptResult) throws {
        guard let attempt = attempts[result.key], records[result.key.transactionID] != nil else {
            context.logger.error(
                "An outcome is of no attempt that is known",
                metadata: ["transaction.id": "\(result.key.transactionID)"]
            )
            return
        }
        switch result.outcome {
        case .charged(let reference):
            try applyCharge(attempt, reference)
        case .declined(let reason):
            try fail(attempt, reason)
        case .exhausted:
            try fail(attempt, .processorRefused)
        case .needsApproval(let wasApproved):
            // The answer to a call of before the approval, told late, says nothing about the one after.
            if wasApproved || records[attempt.transactionID]?.approval == nil {
                try awaitApproval(attempt)
            }
        case .approvalExpired:
            let move = try apply(.expireApproval, to: attempt.transactionID)
            if case .moved = move { change(attempt.key) { $0.settle("approvalExpired") } }
        case .refunded(let reference):
            try applyRefund(attempt, reference)
        case .tryAgain(let wasCalled):
            tryAgain(attempt, wasCalled: wasCalled)
        }
    }

    private mutating func applyCharge(_ attempt: ProcessorAttempt, _ reference: String) throws {
        let move = try apply(.confirmCharge, to: attempt.transactionID)
        if attempt.outcome != "charged" {
            change(attempt.key) { $0.settle("charged", reference: reference) }
        }
        guard case .refused(let refusal) = move else { return }
        // The buyer has paid for a transaction that had ended without a charge: the money is noted
        // where it is, and goes back.
        context.logger.error(
            "A charge was confirmed for a transaction that does not take it; it is returned",
            metadata: [
                "transaction.id": "\(attempt.transactionID)", "refusal": "\(refusal)",
                "trace": "\(records[attempt.transactionID]?.trace ?? "")",
            ]
        )
        let refund = AttemptKey(transactionID: attempt.transactionID, kind: .refund)
        guard attempts[refund] == nil, let record = records[attempt.transactionID] else { return }
        if let posting = LedgerRules.strayCharge(
            id: PostingID(time: time),
            transactionID: attempt.transactionID,
            buyer: record.transaction.accountID,
            gross: attempt.amount,
            time: time
        ) {
            try post(posting, of: record, gross: attempt.amount, as: .strayCharged)
        }
        let attempt = ProcessorAttempt(
            transactionID: attempt.transactionID,
            kind: .refund,
            id: AttemptID(time: time),
            step: .calling,
            paymentMethod: attempt.paymentMethod,
            amount: attempt.amount,
            chargeReference: reference,
            dueAt: time.advanced(by: context.policy.lease)
        )
        attempts[refund] = attempt
        add(attempt)
    }

    private mutating func applyRefund(_ attempt: ProcessorAttempt, _ reference: String) throws {
        guard attempt.step != .settled, let record = records[attempt.transactionID] else { return }
        change(attempt.key) { $0.settle("refunded", reference: reference) }
        let transaction = record.transaction
        guard transaction.state != .purchased || transaction.price.isZero else {
            try apply(.refund, to: transaction.id)
            return
        }
        // It was a stray charge; the transaction itself has no part in it.
        if let posting = LedgerRules.strayChargeReturn(
            id: PostingID(time: time),
            transactionID: attempt.transactionID,
            buyer: record.transaction.accountID,
            gross: attempt.amount,
            time: time
        ) {
            try post(posting, of: record, gross: attempt.amount, as: .strayChargeReturned)
        }
    }

    /// Posts money that moved beside a transaction, which stays as it is.
    private mutating func post(
        _ posting: Posting,
        of record: TransactionRecord,
        gross: Money,
        as type: EventType
    ) throws {
        postings.append(posting)
        events.append(
            try OutboxEvent(
                TransactionEvent(
                    transaction: record.transaction,
                    type: type,
                    posting: PostingReference(posting, of: record, gross: gross),
                    traceparent: step(type, of: record)
                ),
                at: time,
                in: context.environment
            )
        )
    }

    /// Tells of what happened to a transaction that stays as it is.
    mutating func tell(_ type: EventType, of id: TransactionID) throws {
        guard let record = records[id] else { return }
        events.append(
            try OutboxEvent(
                TransactionEvent(
                    transaction: record.transaction,
                    type: type,
                    traceparent: step(type, of: record)
                ),
                at: time,
                in: context.environment
            )
        )
    }

    private mutating func fail(_ attempt: ProcessorAttempt, _ reason: FailureReason) throws {
        guard attempt.kind == .charge else { return tryAgain(attempt, wasCalled: true) }
        let move = try apply(.fail(reason), to: attempt.transactionID)
        if case .refused(let refusal) = move {
            context.logger.error(
                "The processor says that a purchased transaction was not charged",
                metadata: [
                    "transaction.id": "\(attempt.transactionID)", "refusal": "\(refusal)",
                    "trace": "\(records[attempt.transactionID]?.trace ?? "")",
                ]
            )
            return
        }
        guard attempt.step != .settled else { return }
        change(attempt.key) { $0.settle(reason.rawValue) }
    }

    private mutating func awaitApproval(_ attempt: ProcessorAttempt) throws {
        let move = try apply(.awaitApproval, to: attempt.transactionID)
        guard case .moved(let record, _, _) = move else { return }
        guard record.transaction.state == .deferred else {
            change(attempt.key) { $0.settle(FailureReason.processorRefused.rawValue) }
            return
        }
        let end = time.advanced(by: context.policy.approvalExpiry)
        change(attempt.key) { attempt in
            attempt.step = .awaitingApproval
            attempt.dueAt = end
        }
    }

    private mutating func tryAgain(_ attempt: ProcessorAttempt, wasCalled: Bool) {
        guard attempt.step == .calling else { return }
        let calls = attempt.callCount + (wasCalled ? 1 : 0)
        let due = time.advanced(by: context.policy.pause(afterCalls: max(calls, 1)))
        change(attempt.key) { attempt in
            attempt.callCount = calls
            attempt.dueAt = due
        }
        report.nextDue = min(report.nextDue ?? due, due)
    }
}

import EventTypes
import Postgres
import StoreTracing

/// Refunds purchases, in full or in part, and reverses refunds.
///
/// Each is committed as an attempt before the processor is called, so it is carried out no matter
/// what happens.
struct RefundHandler: Sendable {
    let context: PaymentsContext
    /// Carries out refunds and reversals.
    let runner: ChargeRunner
    /// Called after each commit; the outbox may have new events.
    let didCommit: @Sendable () -> Void

    /// Refunds a transaction, and waits for the processor's answer.
    ///
    /// - Returns: `.accepted` while the processor has not confirmed the refund.
    func refund(
        _ id: TransactionID,
        _ terms: RefundTerms = RefundTerms(),
        trace: TraceContext
    ) async throws -> AdminReply {
        try await carryOut(await planRefund(of: id, terms, trace: trace)) { attempt, transaction in
            transaction.refunds?.contains { $0.number == attempt.number } == true
        }
    }

    /// Reverses a refund, and waits for the processor's answer.
    ///
    /// - Returns: `.accepted` while the processor has not confirmed the reversal.
    func reverseRefund(
        _ number: Int,
        of id: TransactionID,
        by act: Act?,
        trace: TraceContext
    ) async throws -> AdminReply {
        try await carryOut(await planReversal(of: number, of: id, by: act, trace: trace)) {
            attempt,
            transaction in
            transaction.refunds?.contains {
                $0.number == attempt.number && $0.reversedAt != nil
            } == true
        }
    }

    /// Commits a refund before the processor is called.
    ///
    /// A transaction without a charge is revoked at once. Otherwise the caller has to carry out the
    /// returned attempt.
    func beginRefund(
        of id: TransactionID,
        _ terms: RefundTerms = RefundTerms(),
        trace: TraceContext
    ) async throws -> AdminReply {
        try await planRefund(of: id, terms, trace: trace).reply
    }

    private func planRefund(
        of id: TransactionID,
        _ terms: RefundTerms,
        trace: TraceContext
    ) async throws -> Beginning {
        var known = terms
        known.leavesConsumables = context.leavesRefundedConsumables
        return try await begin(id, trace, under: terms.key) {
            [terms = known] plan, record, attempts, earlier in
            let verdict = RefundRules.verdict(
                on: terms,
                after: earlier,
                for: record.transaction,
                with: attempts
            )
            switch verdict {
            case .refused(let refusal): return .refused(refusal)
            case .done: return .done
            case .pending(let key): return .pending(key)
            case .accepted(let refund):
                return try plan.begin(refund, of: id).map { .begun($0) } ?? .changed
            }
        }
    }

    /// Commits a reversal before the processor is called.
    ///
    /// A refund that gave nothing back is reversed at once. Otherwise the caller has to carry out
    /// the returned attempt.
    func beginReversal(
        of number: Int,
        of id: TransactionID,
        by act: Act?,
        trace: TraceContext
    ) async throws -> AdminReply {
        try await planReversal(of: number, of: id, by: act, trace: trace).reply
    }

    private func planReversal(
        of number: Int,
        of id: TransactionID,
        by act: Act?,
        trace: TraceContext
    ) async throws -> Beginning {
        try await begin(id, trace) { plan, record, attempts, _ in
            let verdict = RefundRules.verdict(
                onReversing: number,
                of: record.transaction,
                with: attempts
            )
            switch verdict {
            case .refused(let refusal): return .refused(refusal)
            case .done: return .done
            case .pending(let key): return .pending(key)
            case .accepted(let refund):
                let key = AttemptKey(transactionID: id, kind: .refund, number: number)
                if refund.amount.isZero {
                    plan.apply(.reverseRefund(number: number), to: id, by: act)
                    return .changed
                }
                guard let attempt = plan.attempts[key] else { throw PaymentError(.attemptMissing) }
                return .begun(plan.reverse(attempt, by: act))
            }
        }
    }

    /// The reply to a request before the processor is called.
    private struct Beginning {
        let reply: AdminReply
        /// Whether this request has changed something, so that what it accepted is its own.
        let isNew: Bool
    }

    /// The next step of a request, by its plan.
    private enum Step {
        case refused(TransactionRefusal)
        case done
        /// The request was accepted before, and this attempt is still to be carried out.
        case pending(AttemptKey)
        /// The transaction changed, without the processor.
        case changed
        /// An attempt was added.
        case begun(ProcessorAttempt)

        /// The request under a key, to be recorded; `nil` if it was refused, or an attempt has the
        /// key.
        func request(
            under key: UsedKey,
            _ attempts: [AttemptKey: ProcessorAttempt]
        ) -> EarlierRefundRequest? {
            if attempts.values.contains(where: { $0.requestKey == key }) { return nil }
            switch self {
            case .refused, .begun: return nil
            case .done, .changed: return EarlierRefundRequest(key: key, pending: nil)
            case .pending(let attempt):
                return EarlierRefundRequest(key: key, pending: attempt.number)
            }
        }
    }

    /// Locks a transaction, lets a rule decide, and writes its plan.
    private func begin(
        _ id: TransactionID,
        _ trace: TraceContext,
        under key: UsedKey? = nil,
        _ decide:
            @escaping @Sendable (
                inout SettlementPlan, TransactionRecord, [ProcessorAttempt], EarlierRefundRequest?
            ) throws -> Step
    ) async throws -> Beginning {
        let start = context.spans.start
        let (reply, report) = try await context.client.withTransaction {
            connection -> (AdminReply, OutcomeReport?) in
            var settlement = Settlement(context, within: trace)
            try settlement.lock([id], on: connection)
            guard let record = settlement.plan.records[id] else { return (.unknown, nil) }
            let transaction = record.transaction
            let attempts = settlement.plan.attempts
            let earlier = try key.flatMap {
                try RefundKeyStore.find($0.idempotencyKey, of: id, on: connection)
            }
            let step = try decide(&settlement.plan, record, Array(attempts.values), earlier)
            if let key, earlier == nil, let request = step.request(under: key, attempts) {
                try RefundKeyStore.insert(
                    request,
                    of: id,
                    at: settlement.plan.time,
                    on: connection
                )
            }
            switch step {
            case .refused(let refusal): return (.refused(refusal, transaction), nil)
            case .done: return (.done(transaction), nil)
            case .pending(let key):
                return (attempts[key].map { .accepted($0, transaction) } ?? .done(transaction), nil)
            case .changed:
                let report = try settlement.write(on: connection)
                return (.done(settlement.plan.records[id]?.transaction ?? transaction), report)
            case .begun(let attempt):
                return (.accepted(attempt, transaction), try settlement.write(on: connection))
            }
        }
        if let report {
            context.record(report.steps, from: start)
            didCommit()
        }
        return Beginning(reply: reply, isNew: report != nil)
    }

    /// Carries out an attempt that was accepted.
    ///
    /// The processor is called only for an attempt of this request, whose lease this process has.
    /// One that was begun earlier may be under way elsewhere, and is left to the recovery.
    ///
    /// `isDone` returns whether a transaction shows that the attempt has succeeded.
    private func carryOut(
        _ beginning: Beginning,
        until isDone: (ProcessorAttempt, Transaction) -> Bool
    ) async throws -> AdminReply {
        guard case .accepted(let attempt, let before) = beginning.reply else {
            return beginning.reply
        }
        if beginning.isNew { await runner.carryOut([attempt]) }
        guard
            let transaction = try await TransactionReader(client: context.client).transaction(
                before.id
            )
        else { return .unknown }
        guard !isDone(attempt, transaction) else { return .done(transaction) }
        let hasFailed = try await context.client.withConnection { connection in
            try AttemptStore.hasFailed(attempt.key, on: connection)
        }
        guard hasFailed else { return .accepted(attempt, transaction) }
        return .refused(
            attempt.kind == .refund
                ? .refundFailed(number: attempt.number) : .reversalFailed(number: attempt.number),
            transaction
        )
    }
}

extension SettlementPlan {
    /// Begins a refund of a locked transaction.
    ///
    /// - Returns: The attempt to carry out; `nil` if there is no money to give back, so that the
    ///   transaction is revoked at once.
    /// - Throws: ``PaymentError`` if the transaction has no charge.
    mutating func begin(_ refund: RefundPlan, of id: TransactionID) throws -> ProcessorAttempt? {
        if refund.amount.isZero {
            apply(
                .refund(number: refund.number, amount: refund.amount, revokes: refund.revokes),
                to: id,
                by: refund.act
            )
            return nil
        }
        let key = AttemptKey(transactionID: id, kind: .charge)
        guard let charge = attempts[key] else { throw PaymentError(.attemptMissing) }
        return self.refund(id, refund, by: charge.paymentMethod, of: charge.reference)
    }
}

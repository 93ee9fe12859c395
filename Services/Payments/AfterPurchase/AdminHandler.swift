import EventTypes
import Postgres
import StoreAPI

/// Approvals and refunds: one database transaction each, by the same state machine and with the
/// same care for crashes as a charge.
struct AdminHandler: Sendable {
    let context: PaymentsContext
    /// Carries out refunds.
    let runner: ChargeRunner
    /// Takes what was committed: attempts to carry out, events to publish.
    let didCommit: @Sendable ([ProcessorAttempt]) -> Void

    /// Notes an approver's word.
    ///
    /// The first word counts (trap 27).
    func decide(
        _ decision: ApprovalRequest.Decision,
        on id: TransactionID,
        trace: TraceContext
    ) async throws -> AdminReply {
        let start = context.spans.start
        let (reply, report) = try await context.client.withTransaction { connection in
            var settlement = Settlement(context, within: trace)
            try settlement.lock([id], on: connection)
            guard let record = settlement.records[id] else {
                return (AdminReply.unknown, OutcomeReport())
            }
            switch ApprovalRules.verdict(on: decision, for: record) {
            case .repeated: return (.done(record.transaction), OutcomeReport())
            case .refused(let refusal):
                return (.refused(refusal, record.transaction), OutcomeReport())
            case .accepted: break
            }
            settlement.annotate(id) { $0.approval = decision }
            switch decision {
            case .approve: try approve(record, &settlement, on: connection)
            case .decline:
                try settlement.apply(.declineApproval, to: id)
                settlement.change(AttemptKey(transactionID: id, kind: .charge)) {
                    $0.settle(FailureReason.approvalDeclined.rawValue)
                }
            }
            let report = try settlement.store(on: connection)
            let after = settlement.records[id] ?? record
            return (.done(after.transaction), report)
        }
        context.record(report.steps, from: start)
        didCommit(report.followUps)
        return reply
    }

    /// Refunds a transaction in full, and waits for the processor's answer.
    ///
    /// - Returns: `.owed` while the processor has not confirmed the refund, which is carried out
    ///   whatever happens.
    func refund(_ id: TransactionID, trace: TraceContext) async throws -> AdminReply {
        let reply = try await beginRefund(of: id, trace: trace)
        guard case .owed(let attempt, _) = reply else { return reply }
        await runner.carryOut([attempt])
        guard let transaction = try await TransactionReader(client: context.client).transaction(id)
        else { return .unknown }
        return transaction.revokedAt == nil ? .owed(attempt, transaction) : .done(transaction)
    }

    /// Promises to refund a transaction in full.
    ///
    /// What cost nothing is revoked at once; otherwise the attempt that is owed has to be carried
    /// out.
    func beginRefund(of id: TransactionID, trace: TraceContext) async throws -> AdminReply {
        let start = context.spans.start
        let (reply, report) = try await context.client.withTransaction {
            connection -> (AdminReply, OutcomeReport?) in
            var settlement = Settlement(context, within: trace)
            try settlement.lock([id], on: connection)
            guard let record = settlement.records[id] else { return (.unknown, nil) }
            let transaction = record.transaction
            guard transaction.state == .purchased else {
                return (.refused(.notPurchased, transaction), nil)
            }
            guard transaction.revokedAt == nil else { return (.done(transaction), nil) }
            guard !transaction.price.isZero else {
                try settlement.apply(.refund, to: id)
                let report = try settlement.store(on: connection)
                return (.done(settlement.records[id]?.transaction ?? transaction), report)
            }
            if let owed = settlement.attempts[AttemptKey(transactionID: id, kind: .refund)] {
                return (.owed(owed, transaction), nil)
            }
            let charge = settlement.attempts[AttemptKey(transactionID: id, kind: .charge)]
            let attempt = ProcessorAttempt(
                transactionID: id,
                kind: .refund,
                id: AttemptID(time: settlement.time),
                step: .calling,
                paymentMethod: charge?.paymentMethod ?? "",
                amount: transaction.price,
                chargeReference: charge?.reference,
                dueAt: settlement.time.advanced(by: context.policy.lease)
            )
            settlement.add(attempt)
            return (.owed(attempt, transaction), try settlement.store(on: connection))
        }
        if let report {
            context.record(report.steps, from: start)
            didCommit([])
        }
        return reply
    }

    /// An approved transaction is charged, unless its product has been bought or its account has
    /// moved to another storefront meanwhile: nobody is charged in a currency of the past.
    private func approve(
        _ record: TransactionRecord,
        _ settlement: inout Settlement,
        on connection: isolated PostgresConnection
    ) throws {
        let id = record.transaction.id
        let key = AttemptKey(transactionID: id, kind: .charge)
        settlement.change(key) { $0.isApproved = true }
        try settlement.tell(.transactionApproved, of: id)
        let standing = try AccountStore.standings(of: [record.accountKey], on: connection)[
            record.accountKey
        ]
        if let reason = AccountRules.failure(
            of: standing ?? AccountStanding(),
            in: record.transaction.storefront
        ) {
            try settlement.apply(.fail(reason), to: id)
            return settlement.change(key) { $0.settle(reason.rawValue) }
        }
        guard record.isOwnable,
            let ownership = try OwnershipStore.claim(
                [(record.ownershipKey, id)],
                on: connection
            )[record.ownershipKey],
            ownership.holder != id
        else { return settlement.call(key) }
        if let ownedAt = ownership.ownedAt {
            try settlement.apply(
                .grantOwned(originalID: ownership.holder, originalPurchasedAt: ownedAt),
                to: id
            )
            settlement.change(key) { $0.settle("granted") }
        } else {
            settlement.change(key) { attempt in
                attempt.step = .waiting
                attempt.waitsFor = ownership.holder
                attempt.dueAt = nil
            }
        }
    }
}

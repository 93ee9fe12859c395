import EventTypes
import Messaging
import Postgres
import StoreAPI
import StoreTracing

/// Takes buyers' requests for refunds, and carries out what administrators decide about them.
///
/// A decision and the refund that it asks for are committed in one database transaction. The request
/// itself is the key of the refund, so no repetition gives money back twice.
struct RefundRequestHandler: Sendable {
    /// The reply to a buyer's request or to a decision.
    enum Reply<Answer: Sendable>: Sendable {
        /// There is no such purchase or request, or it is somebody else's.
        case unknown
        case refused(RefundRequestRefusal, Transaction)
        case done(Answer)
        /// The decision is committed, and the processor has not confirmed the refund.
        case accepted(Answer)
    }

    let refunds: RefundHandler

    private var context: PaymentsContext { refunds.context }

    /// Stores a buyer's request.
    func ask(
        for id: TransactionID,
        because reason: RefundReason,
        under key: IdempotencyKey,
        of account: AccountKey,
        trace: TraceContext
    ) async throws -> Reply<RequestedRefund> {
        let (reply, isNew) = try await context.client.withTransaction {
            connection -> (Reply<RequestedRefund>, Bool) in
            var settlement = Settlement(context, within: trace)
            try settlement.lock([id], on: connection)
            guard let record = settlement.plan.records[id], record.accountKey == account else {
                return (.unknown, false)
            }
            let verdict = RefundRequestRules.asking(
                because: reason,
                under: key,
                for: record.transaction,
                with: settlement.attempts(of: id),
                after: try RefundRequestStore.load(of: id, on: connection),
                at: settlement.plan.time
            )
            switch verdict {
            case .refused(let refusal): return (.refused(refusal, record.transaction), false)
            case .repeated(let request): return (.done(request), false)
            case .accepted(let request):
                let record = RefundRequestRecord(request: request, key: key)
                try save(record, &settlement, trace, on: connection)
                return (.done(request), true)
            }
        }
        if isNew { refunds.didCommit() }
        return reply
    }

    /// Reads the requests of a purchase; `nil` if the account has no such purchase.
    func requests(
        for id: TransactionID,
        of account: AccountKey
    ) async throws -> [RequestedRefund]? {
        try await context.client.withConnection { connection in
            guard let record = try TransactionStore.load([id], on: connection)[id],
                record.accountKey == account
            else { return nil }
            return try RefundRequestStore.load(of: id, on: connection).map(\.request)
        }
    }

    /// Reads a page of requests, the oldest first: all, those in a state, or those of a purchase.
    func page(
        in state: ListedRefundState?,
        of transaction: TransactionID? = nil,
        after place: RefundRequestPlace?,
        limit: Int
    ) async throws -> [RequestedRefund] {
        try await context.client.withConnection { connection in
            try RefundRequestStore.page(
                in: state,
                of: transaction,
                after: place,
                limit: limit,
                on: connection
            )
        }
    }

    /// Reads a request with its purchase and the state of its refund; `nil` if there is none.
    func request(_ number: Int, for id: TransactionID) async throws -> RefundRequestResponse? {
        try await context.client.withConnection { connection in
            guard let transaction = try TransactionStore.load([id], on: connection)[id],
                let record = try RefundRequestStore.load(of: id, on: connection)
                    .first(where: { $0.request.number == number })
            else { return nil }
            return RefundRequestResponse(
                request: record.request,
                act: record.act,
                refundState: try Self.state(
                    of: record.request.refundNumber,
                    transaction.transaction,
                    on: connection
                ),
                transaction: transaction.transaction
            )
        }
    }

    /// Carries out a decision, and waits for the processor's answer if money goes back.
    func decide(
        _ decision: RefundDecision,
        on number: Int,
        for id: TransactionID,
        by act: Act,
        trace: TraceContext
    ) async throws -> Reply<RefundRequestResponse> {
        switch try await begin(decision, on: number, for: id, by: act, trace: trace) {
        case .unknown: return .unknown
        case .refused(let refusal, let transaction): return .refused(refusal, transaction)
        case .done(let attempt), .accepted(let attempt):
            if let attempt { await refunds.runner.carryOut([attempt]) }
        }
        guard let response = try await request(number, for: id) else { return .unknown }
        switch response.refundState {
        case .pending?: return .accepted(response)
        case .failed?:
            let refund = response.request.refundNumber ?? 0
            return .refused(.refundFailed(number: refund), response.transaction)
        case .made?, nil: return .done(response)
        }
    }

    /// Commits a decision before the processor is called.
    ///
    /// - Returns: The refund to carry out; `nil` if there is none, or if it was begun before.
    func begin(
        _ decision: RefundDecision,
        on number: Int,
        for id: TransactionID,
        by act: Act,
        trace: TraceContext
    ) async throws -> Reply<ProcessorAttempt?> {
        let start = context.spans.start
        let (reply, report) = try await context.client.withTransaction {
            connection -> (Reply<ProcessorAttempt?>, OutcomeReport?) in
            var settlement = Settlement(context, within: trace)
            try settlement.lock([id], on: connection)
            guard let transaction = settlement.plan.records[id]?.transaction,
                var record = try RefundRequestStore.load(of: id, on: connection)
                    .first(where: { $0.request.number == number })
            else { return (.unknown, nil) }
            let verdict = RefundRequestRules.deciding(
                decision,
                on: record,
                of: transaction,
                with: settlement.attempts(of: id),
                by: act,
                leavingConsumables: context.leavesRefundedConsumables,
                at: settlement.plan.time
            )
            var attempt: ProcessorAttempt?
            switch verdict {
            case .refused(let refusal): return (.refused(refusal, transaction), nil)
            case .repeated: return (.done(nil), nil)
            case .declined(let request): record.request = request
            case .approved(let request, let refund):
                record.request = request
                if let refund { attempt = try settlement.plan.begin(refund, of: id) }
            }
            record.act = act
            let report = try save(record, &settlement, trace, on: connection)
            return (.done(attempt), report)
        }
        if let report {
            context.record(report.steps, from: start)
            refunds.didCommit()
        }
        return reply
    }

    /// Writes a request together with everything that a settlement has planned.
    @discardableResult
    private func save(
        _ record: RefundRequestRecord,
        _ settlement: inout Settlement,
        _ trace: TraceContext,
        on connection: isolated PostgresConnection
    ) throws -> OutcomeReport {
        try RefundRequestStore.save(record, on: connection)
        settlement.others.append(
            try OutboxEvent(record, at: settlement.plan.time, traceparent: trace)
        )
        return try settlement.write(on: connection)
    }

    /// The state of a refund by its number.
    private static func state(
        of number: Int?,
        _ transaction: Transaction,
        on connection: isolated PostgresConnection
    ) throws -> RefundRequestResponse.RefundState? {
        guard let number else { return nil }
        let key = AttemptKey(transactionID: transaction.id, kind: .refund, number: number)
        if try AttemptStore.hasFailed(key, on: connection) { return .failed }
        let isMade = transaction.refunds?.contains { $0.number == number } == true
        return isMade ? .made : .pending
    }
}

extension Settlement {
    /// The locked attempts of a transaction.
    fileprivate func attempts(of id: TransactionID) -> [ProcessorAttempt] {
        plan.attempts.values.filter { $0.transactionID == id }
    }
}

extension OutboxEvent {
    /// The event of a request for a refund that was made or decided.
    fileprivate init(
        _ record: RefundRequestRecord,
        at time: StoreTime,
        traceparent: TraceContext?
    ) throws {
        try self.init(
            RefundRequestChanged(request: record.request, act: record.act),
            type: .refundRequestChanged,
            topic: Topics.paymentsTransactions,
            key: record.request.accountID.rawValue,
            subject: record.request.transactionID.rawValue,
            time: time,
            traceparent: traceparent
        )
    }
}

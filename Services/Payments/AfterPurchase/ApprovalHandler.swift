import EventTypes
import Postgres
import StoreAPI
import StoreTracing

/// Approves and declines transactions.
///
/// Each call takes one database transaction. It uses the same state machine as a charge and is
/// equally safe against crashes.
struct ApprovalHandler: Sendable {
    let context: PaymentsContext
    /// Called after each commit with the attempts to carry out; the outbox may have new events.
    let didCommit: @Sendable ([ProcessorAttempt]) -> Void

    /// Records an approver's decision.
    ///
    /// The first decision counts (trap 27).
    func decide(
        _ decision: ApprovalRequest.Decision,
        on id: TransactionID,
        by act: Act?,
        trace: TraceContext
    ) async throws -> AdminReply {
        let start = context.spans.start
        let (reply, report) = try await context.client.withTransaction { connection in
            var settlement = Settlement(context, within: trace)
            try settlement.lock([id], on: connection)
            guard let record = settlement.plan.records[id] else {
                return (AdminReply.unknown, OutcomeReport())
            }
            switch ApprovalRules.verdict(on: decision, for: record) {
            case .repeated: return (.done(record.transaction), OutcomeReport())
            case .refused(let refusal):
                return (.refused(refusal, record.transaction), OutcomeReport())
            case .accepted: break
            }
            switch decision {
            case .approve: try approve(record, &settlement, by: act, on: connection)
            case .decline: settlement.plan.decline(id, by: act)
            }
            let report = try settlement.write(on: connection)
            let after = settlement.plan.records[id] ?? record
            return (.done(after.transaction), report)
        }
        context.record(report.steps, from: start)
        didCommit(report.followUps)
        return reply
    }

    /// Approves a transaction, depending on its account's standing and on its product's ownership.
    ///
    /// The ownership is claimed only if the account may be charged.
    private func approve(
        _ record: TransactionRecord,
        _ settlement: inout Settlement,
        by act: Act?,
        on connection: isolated PostgresConnection
    ) throws {
        let id = record.transaction.id
        let account = record.accountKey
        let standing = try connection.read(AccountStore.standings(of: [account]))[account]
        let failure = AccountRules.failure(
            of: standing ?? AccountStanding(),
            in: record.transaction.storefront
        )
        var ownership: Ownership?
        if failure == nil, record.isOwnable {
            let key = record.ownershipKey
            ownership = try OwnershipStore.claim([(key, id)], on: connection)[key]
        }
        settlement.plan.approve(id, failure: failure, meeting: ownership, by: act)
    }
}

import EventTypes
import Messaging
import Postgres
import StoreTracing

/// Commits what the processor answered: one database transaction for a whole batch of outcomes.
///
/// In it the state machine judges each, and transactions, attempts, ownerships, postings and events
/// change together, so that money, state and messages never tell different stories.
///
/// An outcome may arrive twice (a late answer, and an inquiry by whoever took over the lease): the
/// rows are locked and the state machine knows what it has seen.
struct OutcomeHandler: Sendable {
    let context: PaymentsContext

    /// Takes attempts that are due, for the length of a lease.
    func takeDue(limit: Int) async throws -> [ProcessorAttempt] {
        try await context.client.withTransaction { [context] connection in
            let time = context.now()
            return try AttemptStore.takeDue(
                at: time,
                until: time.advanced(by: context.policy.lease),
                owner: context.owner,
                limit: limit,
                on: connection
            )
        }
    }

    /// Why accounts are not charged after all for attempts that no processor has carried out: they
    /// may not pay by now, or buy in another storefront (spec rules 2 and 9).
    func refusals(of attempts: [ProcessorAttempt]) async throws -> [AttemptKey: FailureReason] {
        guard !attempts.isEmpty else { return [:] }
        return try await context.client.withConnection { connection in
            let records = try TransactionStore.load(attempts.map(\.transactionID), on: connection)
            let standings = try AccountStore.standings(
                of: Set(records.values.map(\.accountKey)),
                on: connection
            )
            var refusals: [AttemptKey: FailureReason] = [:]
            for attempt in attempts {
                guard let record = records[attempt.transactionID] else { continue }
                refusals[attempt.key] = AccountRules.failure(
                    of: standings[record.accountKey] ?? AccountStanding(),
                    in: record.transaction.storefront
                )
            }
            return refusals
        }
    }

    /// Commits a batch of outcomes.
    ///
    /// `start` is when the processor was asked, if spans are taken.
    func settle(_ results: [AttemptResult], from start: UInt64 = 0) async throws -> OutcomeReport {
        guard !results.isEmpty else { return OutcomeReport() }
        let report = try await context.client.withTransaction { [context] connection in
            var settlement = Settlement(context)
            return try settlement.settle(results, on: connection)
        }
        context.record(report.steps, from: start)
        return report
    }

    /// Whether committing the same outcomes again may help.
    static func isRetriable(_ error: any Error) -> Bool {
        guard let error = error as? PostgresError else { return false }
        return error.isRetriable || error.code == .commitOutcomeUnknown
    }
}

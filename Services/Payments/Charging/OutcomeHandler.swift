import EventTypes
import Messaging
import Postgres
import StoreTracing

/// Commits the processor's answers, one database transaction for each batch of outcomes.
///
/// The state machine judges each outcome. Transactions, attempts, ownerships, postings and events
/// change in the same database transaction, so they always agree.
///
/// An outcome may arrive twice: as a late answer, and by an inquiry of the process that took over
/// the lease. The rows are locked, and the state machine ignores what it has already applied.
struct OutcomeHandler: Sendable {
    let context: PaymentsContext

    private var gaps: BookGapHandler {
        BookGapHandler(
            client: context.client,
            machineNow: context.machineNow,
            now: context.now,
            logger: context.logger
        )
    }

    /// Takes due attempts, for the length of a lease.
    ///
    /// - Parameters:
    ///   - limit: The most attempts.
    ///   - left: Transactions that are left alone.
    ///   - only: The transaction whose attempts are taken; `nil` for those of all.
    /// - Returns: The attempts.
    /// - Throws: `PostgresError`, or an error of a row that cannot be read.
    func takeDue(
        limit: Int,
        besides left: Set<TransactionID> = [],
        of only: TransactionID? = nil
    ) async throws -> [ProcessorAttempt] {
        try await gaps.noteIfSilent()
        return try await context.client.withTransaction { [context] connection in
            try DueAttemptStore.take(
                at: context.machineNow(),
                approvalsEndedAt: context.now(),
                until: context.leaseEnd,
                owner: context.owner,
                limit: limit,
                besides: left,
                of: only,
                on: connection
            )
        }
    }

    /// Finds the transactions that have due attempts, without taking them.
    func due(limit: Int, besides left: Set<TransactionID>) async throws -> [TransactionID] {
        try await context.client.withConnection { [context] connection in
            try DueAttemptStore.transactions(
                at: context.machineNow(),
                approvalsEndedAt: context.now(),
                limit: limit,
                besides: left,
                on: connection
            )
        }
    }

    /// Renews the leases of attempts that wait in memory.
    ///
    /// - Returns: The attempts that this process keeps.
    func renewLeases(of keys: [AttemptKey], until leaseEnd: MachineTime) async throws
        -> Set<AttemptKey>
    {
        try await context.client.withConnection { [context] connection in
            try AttemptLeaseStore.renew(
                of: keys,
                owner: context.owner,
                at: context.machineNow(),
                until: leaseEnd,
                on: connection
            )
        }
    }

    /// Notes of attempts that nobody has called the processor for them.
    func noteUncalled(_ keys: [AttemptKey]) async throws {
        try await context.client.withConnection { [context] connection in
            try AttemptLeaseStore.noteUncalled(
                keys,
                owner: context.owner,
                at: context.machineNow(),
                on: connection
            )
        }
    }

    /// Finds the lost attempts that were taken over before, for the periods that attempts charge for.
    func foundBefore(_ attempts: [ProcessorAttempt]) async throws -> Set<AttemptID> {
        let ids = attempts.map(\.id)
        return try await context.client.withConnection { connection in
            try DoubtedAttemptStore.known(from: ids, on: connection)
        }
    }

    /// Ends the doubt of attempts after a search for what the books have lost.
    ///
    /// The refunds of a lost charge are written with it, so no kill comes between. They are applied once the
    /// charge is.
    ///
    /// - Parameter findings: The attempts, each with the id of the lost one if there was any, and with its
    ///   refunds.
    /// - Returns: The attempts whose doubt this process has ended, as they are now, and those refunds.
    /// - Throws: `PostgresError`.
    func endDoubt(
        of findings: [(attempt: ProcessorAttempt, lost: AttemptID?, refunds: [LostRefund])]
    ) async throws -> (charges: [ProcessorAttempt], refunds: [ProcessorAttempt]) {
        guard !findings.isEmpty else { return ([], []) }
        let (time, machineTime, leaseEnd) = (context.now(), context.machineNow(), context.leaseEnd)
        let written = findings.map { finding in
            DoubtedAttemptStore.Finding(
                key: finding.attempt.key,
                lost: finding.lost,
                unused: context.ids.attempt(at: time)
            )
        }
        let returned = findings.flatMap { finding in
            finding.attempt.taking(
                finding.refunds,
                of: finding.lost,
                at: machineTime,
                dueAt: leaseEnd,
                unused: { context.ids.attempt(at: time) }
            )
        }
        var lost: [TransactionID: AttemptID] = [:]
        for finding in findings { lost[finding.attempt.transactionID] = finding.lost }
        let ids = try await context.client.withTransaction {
            [owner = context.owner, lost] connection -> [TransactionID: AttemptID] in
            let ids = try DoubtedAttemptStore.end(written, on: connection)
            let refunds = Self.taken(returned, with: lost, by: ids)
            try AttemptStore.insert(refunds, owner: owner, calledFrom: machineTime, on: connection)
            // A new attempt is written without an id of the processor's.
            try AttemptStore.update(refunds, owner: owner, on: connection)
            return ids
        }
        let charges = findings.compactMap { finding -> ProcessorAttempt? in
            var attempt = finding.attempt
            guard let id = ids[attempt.transactionID] else { return nil }
            attempt.id = id
            // The inquiry that follows looks as far back as the search.
            attempt.firstCalledAt = attempt.doubtedSince
            attempt.doubtedSince = nil
            attempt.isCertainlyUncalled =
                finding.lost == nil && finding.attempt.firstCalledAt == nil
            return attempt
        }
        return (charges, Self.taken(returned, with: lost, by: ids))
    }

    /// The refunds of those lost charges that were taken over; another charge may have had one before.
    private static func taken(
        _ refunds: [ProcessorAttempt],
        with lost: [TransactionID: AttemptID],
        by ids: [TransactionID: AttemptID]
    ) -> [ProcessorAttempt] {
        refunds.filter { refund in
            guard let id = ids[refund.transactionID] else { return false }
            return id == lost[refund.transactionID]
        }
    }

    /// Returns the attempts that must not be charged any more, with the reasons.
    ///
    /// No processor has carried them out yet, and their accounts may no longer pay or now buy in
    /// another storefront (spec rules 2 and 9).
    func refusals(of attempts: [ProcessorAttempt]) async throws -> [AttemptKey: FailureReason] {
        guard !attempts.isEmpty else { return [:] }
        return try await context.client.withConnection { connection in
            let records = try TransactionStore.load(attempts.map(\.transactionID), on: connection)
            let standings = try connection.read(
                AccountStore.standings(of: Set(records.values.map(\.accountKey)))
            )
            var refusals: [AttemptKey: FailureReason] = [:]
            for attempt in attempts {
                // An account that may not pay begins nothing new, but what it has goes on.
                guard let record = records[attempt.transactionID],
                    record.transaction.reason != .renewal
                else { continue }
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
    /// `start` is the time at which the processor was called, if spans are recorded.
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

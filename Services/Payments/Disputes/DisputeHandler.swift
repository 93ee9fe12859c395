import EventTypes
import Logging
import Messaging
import Metrics
import Postgres
import StoreTracing

/// Settles what the processor says of disputes.
struct DisputeHandler: Sendable {
    let context: PaymentsContext
    let runner: ChargeRunner

    private let opened = Counter(label: "processor_disputes")

    init(context: PaymentsContext, runner: ChargeRunner) {
        self.context = context
        self.runner = runner
    }

    /// Commits what a dispute is now.
    ///
    /// - Parameters:
    ///   - dispute: The dispute, of a transaction of the store's.
    ///   - account: The account at the processor that tells it; the log names every one but the default.
    /// - Returns: Whether it is dealt with; if not, its charge is not settled yet.
    /// - Throws: `PostgresError`, or an error of a row that cannot be read.
    func settle(
        _ dispute: ProcessorDispute,
        at account: ProcessorAccountName = .default
    ) async throws -> Bool {
        let start = context.spans.start
        let id = dispute.charge.transactionID
        let (isDone, isNew, report) = try await context.client.withTransaction {
            [context] connection in
            var settlement = Settlement(context)
            try settlement.lock([id], on: connection)
            let isDone = settlement.plan.apply(dispute)
            let isNew = try DisputeStore.save(dispute, at: context.machineNow(), on: connection)
            return (isDone, isNew, try settlement.write(on: connection))
        }
        context.record(report.steps, from: start)
        runner.goOn(after: report)
        if isNew {
            opened.increment()
            var metadata: Logger.Metadata = [
                "transaction.id": "\(id)", "dispute": "\(dispute.id)",
                "amount": "\(dispute.amount)", "reason": "\(dispute.reason ?? "none")",
                "answer.by": "\(dispute.answerBy.map { "\($0)" } ?? "unknown")",
            ]
            if account != .default { metadata["processor.account"] = "\(account)" }
            context.logger.warning(
                "A buyer disputes a charge; answer it at the processor",
                metadata: metadata
            )
        }
        return isDone
    }
}

import EventTypes
import Messaging
import Postgres
import StoreAPI

/// Disputes at the sandbox's processor, whose bank is a test.
///
/// A call that was interrupted is repeated: what the books say is settled again.
struct SandboxDisputes: Sendable {
    let books: SandboxStore
    let disputes: DisputeHandler

    /// The answer to a step.
    enum Reply: Hashable, Sendable {
        /// There is no such transaction.
        case unknown
        /// The dispute is not at this step: nothing was paid, or it has ended otherwise.
        case refused
        case done(Transaction)
    }

    /// Takes a step of a dispute.
    func take(_ step: TestDisputeRequest.Step, of id: TransactionID) async throws -> Reply {
        let client = disputes.context.client
        let charge = try await client.withTransaction { connection in
            try connection.read(AttemptStore.locking(of: [id]))[
                AttemptKey(transactionID: id, kind: .charge)
            ]
        }
        if let charge {
            guard let dispute = try await write(step, of: charge) else { return .refused }
            guard try await disputes.settle(dispute) else { return .refused }
        }
        let record = try await client.withConnection { try TransactionStore.load([id], on: $0)[id] }
        guard let record else { return .unknown }
        return charge == nil ? .refused : .done(record.transaction)
    }

    /// Writes a step into the books.
    ///
    /// - Returns: The dispute; `nil` if it is not at this step.
    private func write(
        _ step: TestDisputeRequest.Step,
        of charge: ProcessorAttempt
    ) async throws -> ProcessorDispute? {
        let key = charge.id.bytes
        let status = Self.status(after: step)
        return try await books.client.withTransaction { connection in
            switch step {
            case .inquire, .open:
                try connection.execute(
                    """
                    INSERT INTO sandbox_processor.disputes AS known
                        (charge_key, amount, currency, status, withdrawn_at)
                    SELECT charge.idempotency_key, charge.amount - returned.amount,
                        charge.currency, \(status), CASE WHEN \(step == .open) THEN now() END
                    FROM sandbox_processor.charges charge CROSS JOIN LATERAL (
                        SELECT coalesce(sum(amount), 0)::bigint AS amount FROM processor_returns
                        WHERE attempt_id = charge.idempotency_key
                    ) AS returned
                    WHERE charge.idempotency_key = \(key) AND charge.decline_reason IS NULL
                        AND charge.amount > returned.amount
                    ON CONFLICT (charge_key) DO UPDATE
                        SET status = excluded.status, withdrawn_at = excluded.withdrawn_at
                        WHERE known.withdrawn_at IS NULL AND excluded.withdrawn_at IS NOT NULL
                    """
                )
            case .win, .lose:
                try connection.execute(
                    """
                    UPDATE sandbox_processor.disputes SET status = \(status),
                        reinstated_at = CASE WHEN \(step == .win) THEN now() END
                    WHERE charge_key = \(key) AND status = 'needs_response'
                    """
                )
            }
            return try connection.query(
                """
                SELECT amount, currency, status, opened_at, withdrawn_at IS NOT NULL,
                    reinstated_at IS NOT NULL
                FROM sandbox_processor.disputes
                WHERE charge_key = \(key) AND status = \(status)
                """
            ).first.map { row in
                let (amount, currency, status, opened, isWithdrawn, isReinstated) = try row.decode(
                    Int64.self,
                    Currency.self,
                    String.self,
                    MachineTime.self,
                    Bool.self,
                    Bool.self
                )
                return ProcessorDispute(
                    id: "sandbox-dispute-\(charge.id)",
                    charge: ProcessorEvent.Subject(
                        transactionID: charge.transactionID,
                        id: charge.id
                    ),
                    amount: Money(minorUnits: amount, currency: currency),
                    stage: isReinstated ? .reinstated : isWithdrawn ? .withdrawn : .noMoneyMoved,
                    status: status,
                    reason: "fraudulent",
                    openedAt: opened,
                    answerBy: nil
                )
            }
        }
    }

    /// The name of the state after a step, as Stripe has it.
    private static func status(after step: TestDisputeRequest.Step) -> String {
        switch step {
        case .inquire: "warning_needs_response"
        case .open: "needs_response"
        case .win: "won"
        case .lose: "lost"
        }
    }
}

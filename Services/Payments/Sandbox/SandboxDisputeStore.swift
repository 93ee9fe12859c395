import EventTypes
import Messaging
import Postgres
import StoreAPI

/// The disputes in the books of the sandbox's processor.
struct SandboxDisputeStore: Sendable {
    let client: PostgresClient

    /// Writes a step into the books.
    ///
    /// - Returns: The dispute; `nil` if it is not at this step.
    func write(
        _ step: TestDisputeRequest.Step,
        of charge: ProcessorAttempt
    ) async throws -> ProcessorDispute? {
        let key = charge.id.bytes
        let status = Self.status(after: step)
        return try await client.withTransaction { connection in
            // A refund may be spending the same rest.
            try SandboxStore.lock([charge.id], on: connection)
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
                        SET amount = excluded.amount, status = excluded.status,
                            withdrawn_at = excluded.withdrawn_at
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
            return try Self.dispute(of: charge, at: status, on: connection)
        }
    }

    /// The dispute of a charge; `nil` if it has none with this status.
    private static func dispute(
        of charge: ProcessorAttempt,
        at status: String,
        on connection: isolated PostgresConnection
    ) throws -> ProcessorDispute? {
        try connection.query(
            """
            SELECT amount, currency, status, opened_at, withdrawn_at IS NOT NULL,
                reinstated_at IS NOT NULL
            FROM sandbox_processor.disputes
            WHERE charge_key = \(charge.id.bytes) AND status = \(status)
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
                charge: ProcessorSubject(
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

import EventTypes
import Messaging
import Postgres

/// The table of disputes, which tells the operator what to answer.
enum DisputeStore {
    /// Writes what the processor says of a dispute now.
    ///
    /// A stage never goes back, nor is a dispute that has ended open again, unless there is an appeal.
    /// So an answer that comes late changes nothing. One about an appeal may show an end as open until
    /// the dispute is read again. No money depends on it.
    ///
    /// - Parameters:
    ///   - dispute: The dispute.
    ///   - time: The present.
    ///   - connection: A connection in a database transaction.
    /// - Returns: Whether it was not known before.
    /// - Throws: `PostgresError`.
    static func save(
        _ dispute: ProcessorDispute,
        at time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try connection.query(
            """
            INSERT INTO processor_disputes AS known (
                dispute_id, transaction_id, amount, currency, stage, status, reason, opened_at,
                answer_by, changed_at)
            VALUES (
                \(dispute.id), \(dispute.charge.transactionID.number), \(dispute.amount.minorUnits),
                \(dispute.amount.currency), \(Int32(dispute.stage.rawValue)), \(dispute.status),
                \(dispute.reason as String?), \(dispute.openedAt),
                \(dispute.answerBy as MachineTime?), \(time))
            ON CONFLICT (dispute_id) DO UPDATE SET
                stage = excluded.stage, status = excluded.status, reason = excluded.reason,
                answer_by = excluded.answer_by, changed_at = excluded.changed_at
            WHERE known.stage < excluded.stage OR known.stage = excluded.stage
                AND (known.status NOT IN ('won', 'lost', 'prevented', 'warning_closed')
                    OR excluded.status IN (
                        'won', 'lost', 'prevented', 'warning_closed',
                        'appeal_needs_response', 'appeal_under_review'))
            RETURNING xmax = 0
            """
        ).first.map { try $0.decode(Bool.self) } ?? false
    }

    /// Reads the processor's ids of the disputes of a transaction.
    static func ids(
        of transaction: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> [String] {
        try connection.query(
            """
            SELECT dispute_id FROM processor_disputes
            WHERE transaction_id = \(transaction.number) ORDER BY dispute_id
            """
        ).map { try $0.decode(String.self) }
    }
}

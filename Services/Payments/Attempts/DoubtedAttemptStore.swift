import EventTypes
import Messaging
import Postgres

/// The SQL about charges of which the books may have lost an earlier try.
enum DoubtedAttemptStore {
    /// Writes that the processor was asked for the lost tries of charges.
    ///
    /// A charge whose try was found takes its id, so that all that the processor tells of it fits.
    ///
    /// - Parameters:
    ///   - findings: The charges, each with the id of the lost try if there was any.
    ///   - time: The present.
    ///   - connection: A connection.
    /// - Returns: The transactions of the charges that were in doubt until now.
    /// - Throws: `PostgresError`.
    static func end(
        _ findings: [(key: AttemptKey, lost: AttemptID?)],
        at time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws -> Set<TransactionID> {
        let rows = try connection.query(
            """
            UPDATE processor_attempts AS a SET attempt_id = coalesce(u.lost, a.attempt_id),
                first_called_at = CASE WHEN u.lost IS NULL THEN \(time) ELSE a.doubted_since END,
                doubted_since = NULL
            FROM unnest(
                \(findings.map(\.key.transactionID.number)), \(findings.map { Int32($0.key.number) }),
                \(padded: findings.map { $0.lost?.bytes })) AS u (transaction_id, number, lost)
            WHERE a.transaction_id = u.transaction_id AND a.kind = 'charge' AND a.number = u.number
                AND a.step = 'calling' AND a.doubted_since IS NOT NULL
            RETURNING a.transaction_id
            """
        )
        return Set(try rows.map { TransactionID(number: try $0.decode(Int64.self)) })
    }
}

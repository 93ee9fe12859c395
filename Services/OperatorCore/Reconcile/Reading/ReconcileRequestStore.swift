import EventTypes
import Postgres

/// Reads where buyers' requests for refunds and the refunds of `payments` disagree.
///
/// An approval and its refund are written in one database transaction and read in one, so nothing is ever
/// on its way.
enum ReconcileRequestStore {
    /// The disagreements, each with its transaction.
    static func differences(
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [(transactionID: TransactionID, detail: String)] {
        try connection.query(
            """
            SELECT r.transaction_id, 'request ' || r.number || ' is of an unknown purchase'
            FROM refund_requests r LEFT JOIN transactions t ON t.id = r.transaction_id
            WHERE t.id IS NULL
            UNION ALL
            SELECT r.transaction_id,
                'request ' || r.number || ' is approved, and refund ' || r.refund || ' is unknown'
            FROM (
                SELECT transaction_id, number, (data->>'refundNumber')::integer AS refund
                FROM refund_requests WHERE state = 'approved'
            ) AS r JOIN transactions t ON t.id = r.transaction_id
            WHERE r.refund IS NOT NULL
                AND NOT EXISTS (
                    SELECT FROM processor_attempts a
                    WHERE a.transaction_id = r.transaction_id AND a.kind = 'refund'
                        AND a.number = r.refund)
                AND NOT EXISTS (
                    SELECT FROM json_array_elements(t.refunds) AS made (refund)
                    WHERE (made.refund->>'number')::integer = r.refund)
            LIMIT \(Int64(limit))
            """
        ).map { row in
            let (id, detail) = try row.decode(Int64.self, String.self)
            return (TransactionID(number: id), detail)
        }
    }
}

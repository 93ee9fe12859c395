import EventTypes
import Messaging
import Postgres

/// The table of buyers' requests for refunds.
///
/// Its rows are written under the lock of their transaction.
enum RefundRequestStore {
    /// Reads all requests of a transaction, the oldest first.
    static func load(
        of id: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> [RefundRequestRecord] {
        try connection.query(
            """
            SELECT data, act, idempotency_key FROM refund_requests
            WHERE transaction_id = \(id.number) ORDER BY number
            """
        ).map { row in
            let (data, act, key) = try row.decode(
                PostgresJSON.self,
                PostgresJSON?.self,
                IdempotencyKey?.self
            )
            return RefundRequestRecord(
                request: try data.decode(RequestedRefund.self),
                act: try act.map { try $0.decode(Act.self) },
                key: key
            )
        }
    }

    /// Reads a page of requests, the oldest first: all, those in a state, or those of a transaction.
    static func page(
        in state: ListedRefundState?,
        of transaction: TransactionID?,
        after place: RefundRequestPlace?,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [RequestedRefund] {
        let place = place ?? .start
        let (time, id, number) = (
            place.requestedAt, place.transactionID.number, Int32(place.number)
        )
        // The state is part of the statement, so that each state walks its own part of an index.
        let condition = condition(of: state)
        let rows =
            if let transaction {
                try connection.query(
                    """
                    SELECT data FROM refund_requests r
                    WHERE transaction_id = \(transaction.number) AND \(unsafe: condition)
                        AND (requested_at, transaction_id, number)
                            > (\(time), \(id), \(number))
                    ORDER BY requested_at, transaction_id, number LIMIT \(Int64(limit))
                    """
                )
            } else {
                try connection.query(
                    """
                    SELECT data FROM refund_requests r
                    WHERE \(unsafe: condition)
                        AND (requested_at, transaction_id, number)
                            > (\(time), \(id), \(number))
                    ORDER BY requested_at, transaction_id, number LIMIT \(Int64(limit))
                    """
                )
            }
        return try rows.map { try $0.decode(PostgresJSON.self).decode(RequestedRefund.self) }
    }

    /// The SQL condition of a state.
    private static func condition(of state: ListedRefundState?) -> String {
        switch state {
        case nil: "true"
        case .open: "state = 'open'"
        case .approved: "state = 'approved'"
        case .declined: "state = 'declined'"
        case .failed:
            // Reads one attempt by its key for each approved request, and never all attempts.
            """
            state = 'approved' AND (
                SELECT a.step = 'failed' OR a.step = 'settled' AND a.failed_reference = a.reference
                FROM processor_attempts a
                WHERE a.transaction_id = r.transaction_id AND a.kind = 'refund'
                    AND a.number = (r.data->>'refundNumber')::integer
            )
            """
        }
    }

    /// Writes a request, which replaces what is stored of it.
    static func save(
        _ record: RefundRequestRecord,
        on connection: isolated PostgresConnection
    ) throws {
        let request = record.request
        let act = try record.act.map { try PostgresJSON(encoding: $0) }
        try connection.execute(
            """
            INSERT INTO refund_requests
                (transaction_id, number, requested_at, state, data, act, idempotency_key)
            VALUES (\(request.transactionID.number), \(Int32(request.number)),
                \(request.requestedAt), \(request.state.rawValue),
                \(try PostgresJSON(encoding: request)), \(act as PostgresJSON?),
                \(record.key as IdempotencyKey?))
            ON CONFLICT (transaction_id, number) DO UPDATE
            SET state = excluded.state, data = excluded.data, act = excluded.act
            """
        )
    }
}

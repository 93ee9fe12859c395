import EventTypes
import Postgres

/// The SQL of buyers' requests for refunds.
enum RequestedRefundStore {
    /// Writes requests in the order of their events.
    ///
    /// - Returns: The requests that are new or have another state than before. One whose event comes
    ///   again is not among them.
    static func save(
        _ requests: [RequestedRefund],
        on connection: isolated PostgresConnection
    ) throws -> [RequestedRefund] {
        try requests.filter { request in
            // A decided request never opens again. One that was approved twice, because the
            // processor could not make the first refund, has changed nothing here.
            try !connection.query(
                """
                INSERT INTO refund_requests AS known (transaction_id, number, requested_at, state)
                VALUES (\(request.transactionID.number), \(Int32(request.number)),
                    \(request.requestedAt), \(request.state.rawValue))
                ON CONFLICT (transaction_id, number) DO UPDATE SET state = excluded.state
                WHERE known.state = 'open' AND excluded.state <> 'open'
                RETURNING number
                """
            ).isEmpty
        }
    }

    /// Returns the time of the newest request for a transaction that was made by then, or `nil` if
    /// there was none.
    static func newest(
        of transaction: TransactionID,
        by time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> StoreTime? {
        try connection.query(
            """
            SELECT requested_at FROM refund_requests
            WHERE transaction_id = \(transaction.number) AND requested_at <= \(time)
            ORDER BY number DESC LIMIT 1
            """
        ).first.map { try $0.decode(StoreTime.self) }
    }

    /// Returns the time of the newest request for a transaction, or `nil` if there is none.
    static func newest(
        of transaction: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> StoreTime? {
        try connection.query(
            """
            SELECT requested_at FROM refund_requests
            WHERE transaction_id = \(transaction.number) ORDER BY number DESC LIMIT 1
            """
        ).first.map { try $0.decode(StoreTime.self) }
    }
}

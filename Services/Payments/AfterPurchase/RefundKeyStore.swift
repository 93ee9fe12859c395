import EventTypes
import Postgres

/// The table of keyed requests for refunds that made no attempt of their own.
enum RefundKeyStore {
    /// Finds the earlier request under a key.
    static func find(
        _ idempotencyKey: IdempotencyKey,
        of id: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> EarlierRefundRequest? {
        try connection.query(
            """
            SELECT fingerprint, refund_number FROM refund_keys
            WHERE transaction_id = \(id.number) AND idempotency_key = \(idempotencyKey)
            """
        ).first.map { row in
            let (fingerprint, number) = try row.decode([UInt8].self, Int32?.self)
            return EarlierRefundRequest(
                key: UsedKey(idempotencyKey: idempotencyKey, fingerprint: fingerprint),
                pending: number.map { Int($0) }
            )
        }
    }

    /// Records a request, with its transaction locked.
    static func insert(
        _ request: EarlierRefundRequest,
        of id: TransactionID,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        let pending = request.pending.map { Int32($0) }
        try connection.execute(
            """
            INSERT INTO refund_keys
                (transaction_id, idempotency_key, fingerprint, refund_number, created_at)
            VALUES (\(id.number), \(request.key.idempotencyKey), \(request.key.fingerprint),
                \(pending as Int32?), \(time))
            ON CONFLICT (transaction_id, idempotency_key) DO NOTHING
            """
        )
    }
}

import EventTypes
import Postgres
import StoreAPI

/// The table of the nonces of signed offers that payments have used.
enum OfferNonceStore {
    /// The index that lets a nonce be used once in an app.
    static let index = "offer_nonces_pkey"

    /// Reads which nonces were used.
    static func used(_ nonces: Set<OfferNonce>) -> PostgresReading<Set<OfferNonce>> {
        guard !nonces.isEmpty else { return PostgresReading(known: []) }
        let ordered = nonces.sorted()
        // `LIMIT` keeps it from becoming a join, which may begin with the table and read all of it.
        return PostgresReading(
            """
            SELECT used.bundle_id, used.nonce::text
            FROM unnest(\(ordered.map(\.bundleID)), \(ordered.map(\.value)))
                AS asked (bundle_id, nonce)
            CROSS JOIN LATERAL (
                SELECT n.bundle_id, n.nonce FROM offer_nonces n
                WHERE n.bundle_id = asked.bundle_id AND n.nonce = asked.nonce::uuid
                LIMIT 1
            ) AS used
            """
        ) { rows in
            Set(
                try rows.map { row in
                    let (bundle, value) = try row.decode(BundleID.self, String.self)
                    return OfferNonce(bundleID: bundle, value: value)
                }
            )
        }
    }

    /// Writes which payments use nonces.
    ///
    /// The server waits for a payment of another process that is using the same nonce at this moment.
    /// If that one commits, the next statement, or COMMIT, fails because of ``index``.
    static func insert(
        _ uses: [(nonce: OfferNonce, id: TransactionID, end: MachineTime)],
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        guard !uses.isEmpty else { return }
        let ordered = uses.sorted { $0.nonce < $1.nonce }
        try connection.enqueue(
            """
            INSERT INTO offer_nonces (bundle_id, nonce, transaction_id, used_at, ends_at)
            SELECT k.bundle_id, k.nonce::uuid, k.id, \(time), k.ends_at FROM unnest(
                \(ordered.map(\.nonce.bundleID)), \(ordered.map(\.nonce.value)),
                \(ordered.map(\.id.number)), \(ordered.map(\.end)))
                AS k (bundle_id, nonce, id, ends_at)
            """
        )
    }

    /// Deletes some nonces whose signatures are too old.
    ///
    /// Rows that somebody else deletes at this moment are skipped, so this waits for nobody. They are
    /// found by their places, because a join with the table may read all of it.
    static func prune(at now: MachineTime, on connection: isolated PostgresConnection) throws {
        try connection.enqueue(
            """
            DELETE FROM offer_nonces WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM offer_nonces WHERE ends_at < \(now)
                ORDER BY ends_at LIMIT 512 FOR UPDATE SKIP LOCKED))
            """
        )
    }
}

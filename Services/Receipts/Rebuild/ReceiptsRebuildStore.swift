import EventTypes
import Postgres

/// The statements that only a rebuild needs.
enum ReceiptsRebuildStore {
    /// Returns the number of a chain in the rebuilt tables.
    ///
    /// Its certificates are in no event.
    static func number(
        of chain: String,
        on shadow: isolated PostgresConnection
    ) throws -> Int32 {
        let rows = try shadow.query(
            """
            WITH added AS (
                INSERT INTO signing_chains (leaf_sha256, header, first_used_at)
                VALUES (decode(\(chain), 'hex'), '', 'epoch')
                ON CONFLICT (leaf_sha256) DO NOTHING RETURNING number
            )
            SELECT number FROM added
            UNION ALL SELECT number FROM signing_chains WHERE leaf_sha256 = decode(\(chain), 'hex')
            """
        )
        guard let row = rows.first else {
            throw ReceiptsError(
                code: .storedReceiptMalformed,
                detail: "The signing chain \(chain) was stored and is not there."
            )
        }
        return try row.decode(Int32.self)
    }

    /// Stores the app transactions of accounts.
    static func keep(
        _ accounts: [OwnerKey: Int64],
        on shadow: isolated PostgresConnection
    ) throws {
        guard !accounts.isEmpty else { return }
        let accounts = Array(accounts)
        try shadow.execute(
            """
            INSERT INTO app_transactions
                (account_id, bundle_id, app_transaction_id, first_seen_at)
            SELECT account_id, bundle_id, app_transaction_id, 'epoch'
            FROM unnest(
                \(accounts.map(\.key.account)), \(accounts.map(\.key.bundle)),
                \(accounts.map(\.value))
            ) AS seen (account_id, bundle_id, app_transaction_id)
            ON CONFLICT (account_id, bundle_id) DO NOTHING
            """
        )
    }
}

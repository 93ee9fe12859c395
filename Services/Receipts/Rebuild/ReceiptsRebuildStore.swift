import EventTypes
import Postgres
import Rebuild

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

/// The tables of `receipts` that are rebuilt, and how they are compared.
///
/// Data that no event carries is not rebuilt: notifications and what merchants' servers reported
/// (`notifications`, `notification_attempts`, `notification_endpoints`, `consumptions`), the
/// certificates of a chain, and the time at which an app was first seen.
enum ReceiptsTables {
    static let all = [
        RebuiltTable(
            "signed_transactions",
            key: [.number("transaction_id")],
            columns: [
                "transaction_id", "original_transaction_id", "reason", "purchased_at",
                "revoked_at", "standing_refunds", "reversed_refunds", "signed_at", "revision",
                // Chains are numbered in the order of their arrival. The leaf identifies them.
                .init(
                    "signing_chain",
                    """
                    (SELECT encode(leaf_sha256, 'hex') FROM signing_chains
                    WHERE number = signing_chain)
                    """
                ),
                "app_transaction_id", "product_id", "product_type",
                .init("payload", "convert_from(payload, 'UTF8')"),
                .init("signature", "encode(signature, 'hex')"), "history_position",
            ]
        ),
        RebuiltTable(
            "transaction_finishes",
            key: [.number("transaction_id")],
            columns: ["transaction_id", "finished_at"]
        ),
        RebuiltTable(
            "app_transactions",
            key: [.text("account_id"), .text("bundle_id")],
            columns: ["account_id", "bundle_id", "app_transaction_id"]
        ),
        RebuiltTable(
            "app_account_tokens",
            key: [.number("original_transaction_id")],
            columns: ["original_transaction_id", "app_account_token", "set_at"]
        ),
    ]
}

import Rebuild

/// The tables of `receipts` that are rebuilt, and how they are compared.
///
/// Data that no event carries is not rebuilt: notifications and what merchants' servers reported
/// (`notifications`, `notification_attempts`, `extension_summaries`, `notification_endpoints`,
/// `consumptions`), the certificates of a chain, and the time at which an app was first seen.
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
                "app_transaction_id", "product_id", "product_type", "is_upgraded",
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
            "subscriptions",
            key: [.number("id")],
            columns: [
                "id", "account_id", "bundle_id", "version", .init("data", "data::jsonb"),
            ]
        ),
        RebuiltTable(
            "products",
            key: [.text("id")],
            columns: ["id", "version", .init("data", "data::jsonb")]
        ),
        RebuiltTable(
            "refund_requests",
            key: [.number("transaction_id"), .number("number")],
            columns: ["transaction_id", "number", "requested_at", "state"]
        ),
        RebuiltTable(
            "app_account_tokens",
            key: [.number("original_transaction_id")],
            columns: ["original_transaction_id", "app_account_token", "set_at"]
        ),
    ]
}

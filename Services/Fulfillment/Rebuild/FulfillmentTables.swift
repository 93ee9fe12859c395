import Rebuild

/// The tables of `fulfillment` that are rebuilt, and how they are compared.
///
/// Data that no event carries is not rebuilt. This is what an administrator has uploaded
/// (`hosted_contents`, `content_uploads`) and how often a webhook was tried before it was
/// confirmed. The contents that each transaction carries are compared.
enum FulfillmentTables {
    static let all = [
        RebuiltTable(
            "queues",
            rows: "revision > 0",
            key: [.text("account_id"), .text("bundle_id")],
            columns: ["account_id", "bundle_id", "revision"]
        ),
        RebuiltTable(
            "queue_transactions",
            key: [.number("transaction_id")],
            columns: [
                "transaction_id", "account_id", "bundle_id", "version", "state", "revoked_at",
                .init("transaction", "unpacked_json(transaction)"), "is_delivered", "finished_at",
                "revision", "changed_at", "contents", "traceparent",
            ]
        ),
        RebuiltTable(
            "deliveries",
            key: [.number("transaction_id"), .text("target")],
            columns: [
                "transaction_id", "target", "kind", "url", "host", "state", "version",
                "delivered_at",
                .init("last_result", "CASE WHEN state = 'delivered' THEN last_result END"),
            ]
        ),
        RebuiltTable(
            "entitlements",
            key: [
                .text("account_id"), .text("bundle_id"), .text("product_id"),
                .number("original_transaction_id"),
            ],
            columns: [
                "account_id", "bundle_id", "product_id", "original_transaction_id", "chain_id",
                "granted_at", "revoked_at", "ends_at",
            ]
        ),
        RebuiltTable(
            "subscriptions",
            key: [.number("id")],
            columns: [
                "id", "account_id", "bundle_id", "version", "transaction_id", "starts_at",
                "ends_at", "earlier_transaction_id", "earlier_ends_at",
                .init("data", "data::jsonb"),
            ]
        ),
        RebuiltTable(
            "products",
            key: [.text("id")],
            columns: ["id", "version", .init("entitlements", "entitlements::jsonb")]
        ),
        RebuiltTable(
            "credit_entries",
            key: [.number("transaction_id"), .text("unit"), .text("kind"), .number("number")],
            columns: [
                "transaction_id", "account_id", "bundle_id", "unit", "kind", "number", "amount",
                "created_at",
            ]
        ),
        RebuiltTable(
            "credit_balances",
            key: [.text("account_id"), .text("bundle_id"), .text("unit")],
            columns: ["account_id", "bundle_id", "unit", "balance"]
        ),
        RebuiltTable(
            "queue_accounts",
            key: [.text("account_id"), .text("bundle_id")],
            columns: [
                "account_id", "bundle_id", "version", .init("account", "unpacked_json(account)"),
                "revision", "changed_at",
            ]
        ),
        RebuiltTable(
            "queue_subscriptions",
            key: [.number("subscription_id")],
            columns: [
                "subscription_id", "account_id", "bundle_id", "version",
                .init("subscription", "unpacked_json(subscription)"), "revision", "changed_at",
            ]
        ),
    ]
}

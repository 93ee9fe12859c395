import Rebuild

/// The tables of `payments` that a rebuild makes, and how they are compared.
///
/// Some data is in no event and is not rebuilt: the keys of requests (and `restores`), the nonces
/// of signed offers, codes and their redemptions, attempts that are not settled, the advances of the
/// store's clock, and the processor's own books, which `counterfoil reconcile` compares. What moved at
/// the processor is in its list, which is read again.
enum PaymentsTables {
    static let all = [
        RebuiltTable(
            "transactions",
            key: [.number("id")],
            columns: [
                "id", "original_id", "reason", "version", "state", "account_id", "bundle_id",
                "product_id", "product_version", "product_type", "quantity", "storefront", "price",
                "currency",
                "application_username", "delivery_plan", "requested_at", "purchased_at",
                "original_purchased_at", "failure_reason", "revoked_at", "approval", "finished_at",
                "traceparent", "shared_from", "awaits_buyer", .init("refunds", "refunds::jsonb"),
                .init("subscription", "subscription::jsonb"),
                .init("approval_act", "approval_act::jsonb"),
                // Until money moves, no event contains the tax rate.
                .init(
                    "tax_basis_points",
                    "CASE WHEN state = 'purchased' AND price > 0 THEN tax_basis_points END"
                ),
            ]
        ),
        RebuiltTable(
            "processor_attempts",
            // A refund that the store owes and makes once more is in the log as made.
            rows: "step = 'settled' OR outcome = 'refunded'",
            key: [.number("transaction_id"), .text("kind"), .number("number")],
            columns: [
                "transaction_id", "kind", "number", "amount", "currency", "revokes", "outcome",
                .init("act", "act::jsonb"),
            ]
        ),
        RebuiltTable(
            "ownerships",
            rows: "owned_at IS NOT NULL",
            key: [.text("account_id"), .text("bundle_id"), .text("product_id")],
            columns: ["account_id", "bundle_id", "product_id", "transaction_id", "owned_at"]
        ),
        RebuiltTable(
            "subscriptions",
            rows: "id IS NOT NULL",
            key: [.number("id")],
            columns: [
                "account_id", "bundle_id", "group_id", "id", "version", "state",
                "introductory_transaction",
                // No event says that a charge was begun or has failed.
                .init(
                    "data",
                    "data::jsonb - ARRAY['attempts', 'lastTry', 'charge', 'renewalProblem']"
                ),
            ]
        ),
        RebuiltTable(
            "ledger_postings",
            rows: "kind <> 'processor_movement'",
            key: [.number("transaction_id"), .text("kind"), .number("number")],
            columns: [
                "transaction_id", "kind", "number", "id", "posted_at", "currency", "accounts",
                "amounts",
            ]
        ),
        RebuiltTable(
            "products",
            key: [.text("id")],
            columns: ["id", "version", "is_restorable", .init("data", "data::jsonb")]
        ),
        RebuiltTable(
            "accounts",
            key: [.text("account_id"), .text("bundle_id")],
            columns: ["account_id", "bundle_id", "version", "can_make_payments", "storefront"]
        ),
        RebuiltTable(
            "purchase_intents",
            key: [.text("id")],
            columns: [
                "id", "account_id", "bundle_id", "product_id", "quantity", "created_at", "ended_at",
                "transaction_id",
            ]
        ),
        RebuiltTable(
            "families",
            key: [.text("id")],
            columns: ["id", "bundle_id", "version", .init("data", "data::jsonb")]
        ),
        RebuiltTable(
            "family_members",
            key: [.text("account_id"), .text("bundle_id")],
            columns: ["account_id", "bundle_id", "family_id", "is_sharing"]
        ),
        RebuiltTable(
            "store_clock",
            rows: "step > 0",
            key: [.number("step")],
            columns: ["step", .init("clock", "clock::jsonb")]
        ),
        RebuiltTable(
            "resumptions",
            key: [.number("failed_id")],
            columns: ["failed_id", "transaction_id", "created_at"]
        ),
        RebuiltTable(
            "mass_extensions",
            rows: "completed_at IS NOT NULL",
            key: [.number("number")],
            columns: [
                "number", "bundle_id", "product_id", "request_identifier", "completed_at",
                .init("data", "data::jsonb"), .init("act", "act::jsonb"),
            ]
        ),
        RebuiltTable(
            "refund_requests",
            key: [.number("transaction_id"), .number("number")],
            columns: [
                "transaction_id", "number", "requested_at", "state", .init("data", "data::jsonb"),
                .init("act", "act::jsonb"),
            ]
        ),
    ]
}

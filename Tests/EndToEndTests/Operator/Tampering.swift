import TestSupport

/// A change of one row that no service makes, and the finding of the proof.
struct Tampering: Sendable, CustomStringConvertible {
    let service: StoreService
    let table: String
    let change: String
    let rows: String
    /// A part of the expected finding, which stands in a line of its table; empty: any finding.
    ///
    /// `FIRST` stands for the id of the first transaction.
    let finding: String

    var description: String { "\(service.rawValue).\(table)" }

    init(
        _ service: StoreService,
        _ table: String,
        _ change: String,
        rows: String = "true",
        _ finding: String
    ) {
        self.service = service
        self.table = table
        self.change = change
        self.rows = rows
        self.finding = finding
    }

    static let all = [
        Tampering(.catalog, "products", "changed_by = 'mallory'", "com.example."),
        Tampering(
            .catalog,
            "product_versions",
            "changed_at = changed_at - interval '1 s'",
            "com.example."
        ),
        Tampering(.payments, "transactions", "quantity = quantity + 1", "FIRST: quantity is '2'"),
        Tampering(
            .payments,
            "processor_attempts",
            "amount = amount + 1",
            rows: "step = 'settled'",
            "FIRST charge 1: amount is '100'"
        ),
        Tampering(
            .payments,
            "processor_attempts",
            #"act = '{"decidedBy": "mallory"}'"#,
            rows: "act IS NOT NULL",
            "refund 1: act is "
        ),
        Tampering(
            .payments,
            "transactions",
            "approval_act = NULL",
            rows: "approval_act IS NOT NULL",
            "approval_act is NULL"
        ),
        Tampering(
            .payments,
            "ownerships",
            "owned_at = owned_at - interval '1 day'",
            rows: "owned_at IS NOT NULL",
            "ada com.example.app com.example.pro: owned_at is "
        ),
        Tampering(.payments, "ledger_postings", "accounts[1] = 'buyer:mallory'", ""),
        Tampering(.payments, "products", "is_restorable = NOT is_restorable", "com.example."),
        Tampering(
            .payments,
            "accounts",
            "can_make_payments = NOT can_make_payments",
            "ada com.example.app: can_make_payments is 'f'"
        ),
        Tampering(.payments, "subscriptions", "version = version + 1", rows: "id > 0", ""),
        Tampering(.payments, "purchase_intents", "quantity = quantity + 1", ""),
        Tampering(
            .payments,
            "resumptions",
            "created_at = created_at - interval '1 s'",
            ""
        ),
        Tampering(
            .receipts,
            "signed_transactions",
            "product_id = 'com.example.other'",
            "FIRST: product_id is 'com.example.other'"
        ),
        Tampering(
            .receipts,
            "transaction_finishes",
            "finished_at = finished_at - interval '1 s'",
            "FIRST: finished_at is "
        ),
        Tampering(
            .receipts,
            "app_transactions",
            "app_transaction_id = 700000000000000001",
            "ada com.example.app: app_transaction_id is '700000000000000001'"
        ),
        Tampering(
            .receipts,
            "app_account_tokens",
            "set_at = set_at - interval '1 s'",
            "FIRST: set_at is "
        ),
        Tampering(
            .fulfillment,
            "queues",
            "revision = revision + 1",
            "ada com.example.app: revision"
        ),
        Tampering(
            .fulfillment,
            "queue_transactions",
            "finished_at = NULL",
            rows: "finished_at IS NOT NULL",
            "FIRST: finished_at is NULL"
        ),
        Tampering(
            .fulfillment,
            "deliveries",
            "last_result = 'NO_RESPONSE'",
            rows: "state = 'delivered' AND kind = 'webhook'",
            ""
        ),
        Tampering(.fulfillment, "entitlements", "revoked_at = granted_at", "ada com.example.app"),
        Tampering(
            .fulfillment,
            "credit_entries",
            "amount = amount * 10",
            "FIRST coins grant 0: amount is '1000'"
        ),
        Tampering(
            .fulfillment,
            "credit_balances",
            "balance = balance + 1",
            rows: "unit = 'coins'",
            "coins: balance is "
        ),
        Tampering(
            .fulfillment,
            "queue_accounts",
            "version = version + 1",
            "ada com.example.app: version"
        ),
    ]
}

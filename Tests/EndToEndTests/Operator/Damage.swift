import EventTypes
import Postgres
import Testing
import TestSupport

/// Damage in one book of one purchase.
struct Damage: Sendable {
    /// The kinds of difference that `reconcile` reports.
    let kinds: [String]
    let service: StoreService
    var product = SampleCatalog.coins
    var account = "ada"
    /// The statements that cause the damage.
    ///
    /// `ID` stands for the transaction.
    let statements: [String]

    /// The damages in books of subscriptions, whose first transaction `ID` is.
    static let ofSubscriptions = [
        Damage(
            kinds: ["dueActionDiffers"],
            service: .payments,
            statements: ["UPDATE subscriptions SET due_at = due_at + '1 day' WHERE id = ID"]
        ),
        Damage(
            // Without the event nobody knows what its charge has paid for.
            kinds: ["subscriptionDiffers", "periodChargeDiffers"],
            service: .payments,
            statements: [
                """
                DELETE FROM outbox WHERE subject = 'ID' AND type = 'subscription.changed.v1'
                    AND unpacked_json(data)::json ->> 'cause' = 'purchased'
                """
            ]
        ),
        Damage(
            kinds: ["subscriptionNotTold"],
            service: .fulfillment,
            statements: ["DELETE FROM subscriptions WHERE id = ID"]
        ),
        Damage(
            kinds: ["subscriptionNotTold"],
            service: .receipts,
            statements: ["UPDATE subscriptions SET data = '{}', version = 1 WHERE id = ID"]
        ),
        Damage(
            kinds: ["subscriptionDiffers"],
            service: .payments,
            statements: ["UPDATE subscriptions SET data = '{}' WHERE id = ID"]
        ),
        Damage(
            kinds: ["periodChargeDiffers"],
            service: .payments,
            statements: [
                """
                DELETE FROM sandbox_processor.charges WHERE idempotency_key IN (
                    SELECT attempt_id FROM processor_attempts WHERE transaction_id IN (
                        SELECT id FROM transactions WHERE original_id = ID AND id <> ID))
                """
            ]
        ),
        Damage(
            kinds: ["periodRefundDiffers"],
            service: .payments,
            statements: [
                """
                UPDATE transactions SET refunds = json_build_array(json_build_object(
                    'number', 1, 'amount', json_build_object('minorUnits', 1000, 'currency', 'USD'),
                    'refundedAt', 1, 'revokes', false))
                WHERE id = ID
                """
            ]
        ),
        Damage(
            kinds: ["subscriptionDiffers"],
            service: .receipts,
            statements: [
                "DELETE FROM notifications WHERE transaction_id = ID AND occurrence = 2"
            ]
        ),
        Damage(
            kinds: ["subscriptionDiffers"],
            service: .receipts,
            statements: [
                """
                UPDATE notifications SET type = 'EXPIRED'
                WHERE transaction_id = ID AND occurrence = 2
                """
            ]
        ),
        Damage(
            kinds: ["subscriptionNotTold"],
            service: .receipts,
            statements: [
                """
                UPDATE signed_transactions SET is_upgraded = true
                WHERE original_transaction_id = ID
                """
            ]
        ),
        Damage(
            kinds: ["subscriptionNotTold"],
            service: .receipts,
            statements: [
                """
                UPDATE signed_transactions SET payload = decode(regexp_replace(
                    encode(payload, 'escape'), '"expiresDate":[0-9]+', '"expiresDate":1'), 'escape')
                WHERE original_transaction_id = ID
                """
            ]
        ),
        Damage(
            // A refund was reversed, and nobody has signed the period again.
            kinds: ["subscriptionNotTold"],
            service: .receipts,
            statements: [
                """
                UPDATE signed_transactions SET revoked_at = purchased_at
                WHERE original_transaction_id = ID
                """
            ]
        ),
        Damage(
            // A tab stands for the name of the price.
            kinds: ["subscriptionNotTold"],
            service: .receipts,
            statements: [
                """
                UPDATE signed_transactions SET payload = decode(regexp_replace(
                    encode(payload, 'escape'), '\\t[0-9]+', chr(9) || '1'), 'escape')
                WHERE original_transaction_id = ID
                """
            ]
        ),
    ]

    /// Damages in books of purchases.
    static let all = [
        Damage(
            kinds: ["undelivered"],
            service: .fulfillment,
            statements: [
                "UPDATE queue_transactions SET is_delivered = false WHERE transaction_id = ID"
            ]
        ),
        Damage(
            kinds: ["deliveredTwice"],
            service: .fulfillment,
            statements: [
                """
                INSERT INTO deliveries
                    (transaction_id, target, kind, url, host, state, version, delivered_at)
                VALUES (ID, '1:webhook', 'webhook', 'http://a.example', 'a.example', 'delivered',
                    2, now())
                """
            ]
        ),
        Damage(
            kinds: ["creditedTooMuch"],
            service: .fulfillment,
            statements: ["UPDATE credit_entries SET amount = amount * 2 WHERE transaction_id = ID"]
        ),
        Damage(
            kinds: ["notCredited"],
            service: .fulfillment,
            statements: ["DELETE FROM credit_entries WHERE transaction_id = ID"]
        ),
        Damage(
            kinds: ["notEntitled"],
            service: .fulfillment,
            product: SampleCatalog.pro,
            account: "bob",
            statements: ["DELETE FROM entitlements WHERE original_transaction_id = ID"]
        ),
        Damage(
            kinds: ["notQueued"],
            service: .fulfillment,
            statements: ["DELETE FROM queue_transactions WHERE transaction_id = ID"]
        ),
        Damage(
            kinds: ["queueDiffers"],
            service: .fulfillment,
            statements: ["UPDATE queue_transactions SET state = 'failed' WHERE transaction_id = ID"]
        ),
        Damage(
            kinds: ["notTold"],
            service: .fulfillment,
            statements: [
                "DELETE FROM outbox WHERE subject = 'ID' AND type = 'transaction.finished.v1'"
            ]
        ),
        Damage(
            kinds: ["receiptTwice"],
            service: .receipts,
            statements: [
                "ALTER TABLE signed_transactions DROP CONSTRAINT a_transaction_has_one_receipt",
                """
                INSERT INTO signed_transactions
                SELECT * FROM signed_transactions WHERE transaction_id = ID
                """,
            ]
        ),
        Damage(
            kinds: ["noReceipt"],
            service: .receipts,
            statements: ["DELETE FROM signed_transactions WHERE transaction_id = ID"]
        ),
        Damage(
            kinds: ["finishDiffers"],
            service: .receipts,
            statements: ["DELETE FROM transaction_finishes WHERE transaction_id = ID"]
        ),
        Damage(
            kinds: ["toldTwice"],
            service: .receipts,
            statements: [
                """
                INSERT INTO outbox (event_id, type, topic, key, subject, time, data)
                SELECT gen_random_uuid(), type, topic, key, subject, time, data
                FROM outbox WHERE subject = 'ID' AND type = 'receipt.issued.v1'
                """
            ]
        ),
        Damage(
            kinds: ["notPosted"],
            service: .payments,
            statements: [
                "DELETE FROM ledger_postings WHERE transaction_id = ID"
            ]
        ),
        Damage(
            kinds: ["unbalanced"],
            service: .payments,
            statements: [
                "ALTER TABLE ledger_postings DROP CONSTRAINT entries_balance_to_zero",
                """
                UPDATE ledger_postings SET amounts[2] = amounts[2] - 1 WHERE transaction_id = ID
                """,
            ]
        ),
        Damage(
            kinds: ["notCharged"],
            service: .payments,
            statements: [
                """
                DELETE FROM sandbox_processor.charges WHERE idempotency_key IN (
                    SELECT attempt_id FROM processor_attempts WHERE transaction_id = ID
                )
                """
            ]
        ),
        Damage(
            kinds: ["refundDiffers", "receiptNotRevoked", "creditedTooMuch"],
            service: .payments,
            statements: ["UPDATE transactions SET revoked_at = now() WHERE id = ID"]
        ),
        Damage(
            kinds: ["notTold"],
            service: .payments,
            statements: [
                "DELETE FROM outbox WHERE subject = 'ID' AND type = 'transaction.purchased.v1'"
            ]
        ),
    ]
}

extension StoreHarness {
    /// Damages a book as the owner of the tables.
    ///
    /// No other role can do this.
    func inflict(_ damage: Damage, on id: TransactionID) async throws {
        try await withDatabase(of: damage.service) { connection in
            try connection.execute("SET counterfoil.migrating = 'on'")
            for statement in damage.statements {
                let statement = statement.replacing("ID", with: id.rawValue)
                let count = try connection.execute("\(unsafe: statement)")
                if !statement.hasPrefix("ALTER") { #expect(count > 0, "\(statement)") }
            }
        }
    }
}

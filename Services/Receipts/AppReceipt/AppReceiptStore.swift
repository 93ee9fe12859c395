import EventTypes
import Postgres

/// The SQL of app receipts.
///
/// Each result is one statement, and so one snapshot of the database: a purchase that commits
/// meanwhile is either in it or not (trap 49).
struct AppReceiptStore: Sendable {
    /// Returns an account's purchases in an app for its receipt (spec rule 86).
    ///
    /// Consumables are included until they are finished. Any other transaction is included always,
    /// except that a copy takes the place of the one it copies. So copies add nothing.
    ///
    /// Of a transaction and its copies, the entry is the newest that is not revoked. If the
    /// transaction itself is revoked, the entry is the transaction, because that ends the purchase.
    /// A copy that is revoked ends nothing. If the refund is reversed, the purchase is back.
    ///
    /// Of a subscription each period is included with the transaction that paid it, and a copy of
    /// one is left out.
    ///
    /// The entries are the newest `limit`, ordered by the numbers of the transactions.
    func entries(
        of owner: (account: AccountID, bundle: BundleID),
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [AppReceiptEntry] {
        let rows = try connection.query(
            """
            WITH owner AS (
                SELECT app_transaction_id FROM app_transactions
                WHERE account_id = \(owner.account) AND bundle_id = \(owner.bundle)
            )
            SELECT signed_transactions.payload
            FROM (
                (
                    SELECT DISTINCT ON (copied_id) transaction_id
                    FROM (
                        SELECT transaction_id, revoked_at, CASE
                            WHEN reason IN ('restore', 'ownedAgain') THEN original_transaction_id
                            ELSE transaction_id END AS copied_id
                        FROM signed_transactions
                        WHERE app_transaction_id = (SELECT app_transaction_id FROM owner)
                            AND product_type <> 'consumable'
                            AND NOT (product_type = 'autoRenewableSubscription'
                                AND reason IN ('restore', 'ownedAgain'))
                    ) AS owned
                    ORDER BY copied_id,
                        transaction_id = copied_id AND revoked_at IS NOT NULL DESC,
                        revoked_at IS NULL DESC, transaction_id DESC
                ) UNION ALL (
                    SELECT transaction_id FROM signed_transactions AS unfinished
                    WHERE app_transaction_id = (SELECT app_transaction_id FROM owner)
                        AND product_type = 'consumable' AND NOT EXISTS (
                            SELECT FROM transaction_finishes AS finish
                            WHERE finish.transaction_id = unfinished.transaction_id
                        )
                )
                ORDER BY transaction_id DESC LIMIT \(limit)
            ) AS receipt JOIN signed_transactions USING (transaction_id)
            ORDER BY transaction_id DESC
            """
        )
        return try rows.reversed().map { row in
            try AppReceiptEntry(payload: PackedPayload.unpacked(try row.decode([UInt8].self)))
        }
    }

    /// Returns the account that made a purchase in an app, found by any of its transactions, or
    /// `nil`.
    func account(
        of transactions: [TransactionID],
        in bundle: BundleID,
        on connection: isolated PostgresConnection
    ) throws -> AccountID? {
        let rows = try connection.query(
            """
            SELECT account_id
            FROM signed_transactions JOIN app_transactions USING (app_transaction_id)
            WHERE transaction_id = ANY (\(transactions.map(\.number)))
                AND bundle_id = \(bundle)
            LIMIT 1
            """
        )
        return try rows.first?.decode(AccountID.self)
    }
}

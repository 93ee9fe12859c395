import EventTypes
import Postgres

/// The SQL of app receipts.
///
/// Each result is one statement, and so one snapshot of the database: a purchase that commits
/// meanwhile is either in it or not (trap 49).
struct AppReceiptStore: Sendable {
    /// Returns an account's purchases in an app for its receipt (spec rule 86).
    ///
    /// Consumables are included until they are finished. Any other purchase is always one
    /// transaction, so restored copies add nothing.
    ///
    /// That transaction is the newest that is not refunded. If the original was refunded, it is the
    /// original, because that refund ends the purchase. The refund of a copy ends nothing.
    ///
    /// The entries are the newest `limit`, ordered by the numbers of the transactions.
    func entries(
        of owner: (account: AccountID, bundle: BundleID),
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [AppReceiptEntry] {
        let rows = try connection.query(
            """
            SELECT signed_transactions.payload
            FROM (
                (
                    SELECT DISTINCT ON (original_transaction_id) transaction_id
                    FROM signed_transactions
                    WHERE account_id = \(owner.account) AND bundle_id = \(owner.bundle)
                        AND product_type <> 'consumable'
                    ORDER BY original_transaction_id,
                        transaction_id = original_transaction_id AND revoked_at IS NOT NULL DESC,
                        revoked_at IS NULL DESC, transaction_id DESC
                ) UNION ALL (
                    SELECT transaction_id FROM signed_transactions AS unfinished
                    WHERE account_id = \(owner.account) AND bundle_id = \(owner.bundle)
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
            try AppReceiptEntry(payload: try row.decode([UInt8].self))
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
            SELECT account_id FROM signed_transactions
            WHERE transaction_id = ANY (\(transactions.map(\.number)))
                AND bundle_id = \(bundle)
            LIMIT 1
            """
        )
        return try rows.first?.decode(AccountID.self)
    }
}

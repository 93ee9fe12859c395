import EventTypes
import Postgres

/// The SQL of app receipts.
///
/// Each answer is one statement, and so one moment of the database: a
/// purchase that commits meanwhile is in it or is not (trap 49).
struct AppReceiptStore: Sendable {
    /// What an account has bought in an app: consumables until they are finished, and of everything
    /// else always one transaction of each purchase, so that restored copies add nothing (spec rule
    /// 86).
    ///
    /// The one is the newest that stands. Where the original was refunded it is the original, because
    /// its refund ends the purchase; the refund of a copy ends nothing.
    ///
    /// The order is that of the transactions' numbers; the newest `limit` of them.
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

    /// Who made a purchase in an app, by any of its transactions; `nil` if none is known.
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

package import EventTypes
package import Postgres

/// The SQL that lists all transactions, the newest first, from the database of `payments`.
package enum PurchaseListStore {
    /// Reads a page of transactions, in the order of the primary key.
    ///
    /// - Parameters:
    ///   - id: The last transaction of the page before; `nil` for the first page.
    ///   - limit: The most transactions.
    ///   - connection: A connection.
    /// - Returns: The transactions, and whether there are older ones.
    /// - Throws: `PostgresError`.
    package static func page(
        before id: TransactionID?,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> (purchases: [ListedPurchase], isCut: Bool) {
        let rows = try connection.query(
            """
            SELECT id, account_id, product_id, quantity, price, currency, state, failure_reason,
                revoked_at IS NOT NULL, requested_at
            FROM transactions WHERE id < \(id?.number ?? Int64.max)
            ORDER BY id DESC LIMIT \(Int64(limit + 1))
            """
        )
        var purchases: [ListedPurchase] = []
        for row in rows.prefix(limit) {
            let (
                number, account, product, quantity, price, currency, state, failure, isRevoked,
                requested
            ) = try row.decode(
                Int64.self,
                AccountID.self,
                ProductID.self,
                Int32.self,
                Int64.self,
                Currency.self,
                String.self,
                String?.self,
                Bool.self,
                StoreTime.self
            )
            purchases.append(
                ListedPurchase(
                    id: TransactionID(number: number),
                    accountID: account,
                    productID: product,
                    quantity: Int(quantity),
                    price: Money(minorUnits: price, currency: currency),
                    state: TransactionState(rawValue: state),
                    failureReason: failure,
                    isRevoked: isRevoked,
                    requestedAt: requested
                )
            )
        }
        return (purchases, rows.count > limit)
    }
}

import EventTypes
import Postgres

/// The SQL of what an account has, by its key.
enum AccountHoldingsStore {
    /// The most products of an account that are read.
    static let ownedMax = 100
    /// The most balances of an account that are read.
    static let balancesMax = 100
    /// The most purchases begun outside the app that are read.
    private static let intentsMax: Int64 = 20
    /// The most apps of an account that are read.
    private static let appsMax: Int64 = 20

    /// Reads the products that an account has, from the database of `fulfillment`.
    ///
    /// What has ended or was taken away is not read, however much there is of it: a family's share of
    /// each period is a row of its own.
    ///
    /// - Returns: The products, and whether there are more.
    static func owned(
        by account: AccountID,
        at now: StoreTime,
        limit: Int = ownedMax,
        on connection: isolated PostgresConnection
    ) throws -> (owned: [AccountHoldings.Owned], isCut: Bool) {
        let rows = try connection.query(ownedStatement(by: account, at: now, limit: limit))
        var owned: [AccountHoldings.Owned] = []
        for row in rows.prefix(limit) {
            let (bundle, product, number, end, data) = try row.decode(
                BundleID.self,
                ProductID.self,
                Int64.self,
                StoreTime?.self,
                PostgresJSON?.self
            )
            let original = TransactionID(number: number)
            guard let end else {
                owned.append(AccountHoldings.Owned(product, in: bundle, since: original))
                continue
            }
            let subscription = try data.map { try $0.decode(Subscription.self) }
            let present = AccountHoldings.Owned(
                product,
                in: bundle,
                since: original,
                until: end,
                of: subscription,
                at: now
            )
            if let present { owned.append(present) }
        }
        return (owned, rows.count > limit)
    }

    /// The statement that reads what an account has.
    ///
    /// It has three parts: what never ends, what ends later, and what a subscription may have prolonged.
    /// The first two are limited in the order of an index. Of what ends later, they have what ends
    /// first. The third is short, because a subscription that is begun again stays the same.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - now: The time.
    ///   - limit: The number of products; one more is read.
    ///   - prefix: Text before the statement, such as `EXPLAIN`.
    /// - Returns: The statement.
    static func ownedStatement(
        by account: AccountID,
        at now: StoreTime,
        limit: Int,
        prefix: String = ""
    ) -> SQL {
        let limit = Int64(limit + 1)
        return """
            \(unsafe: prefix) SELECT owned.bundle_id, owned.product_id,
                owned.original_transaction_id, owned.ends_at, subscriptions.data
            FROM (
                SELECT * FROM (
                    (
                        SELECT bundle_id, product_id, original_transaction_id, ends_at
                        FROM entitlements
                        WHERE account_id = \(account) AND revoked_at IS NULL AND ends_at IS NULL
                        ORDER BY ends_at, bundle_id, product_id, original_transaction_id
                        LIMIT \(limit)
                    ) UNION ALL (
                        SELECT bundle_id, product_id, original_transaction_id, ends_at
                        FROM entitlements
                        WHERE account_id = \(account) AND revoked_at IS NULL
                            AND ends_at > \(now)
                        ORDER BY ends_at, bundle_id, product_id, original_transaction_id
                        LIMIT \(limit)
                    ) UNION ALL (
                        SELECT first.bundle_id, first.product_id, first.original_transaction_id,
                            first.ends_at
                        FROM subscriptions AS known JOIN entitlements AS first
                            ON first.account_id = known.account_id
                                AND first.bundle_id = known.bundle_id
                                AND first.original_transaction_id = known.id
                        WHERE known.account_id = \(account) AND first.revoked_at IS NULL
                            AND first.ends_at <= \(now)
                        ORDER BY 1, 2, 3 LIMIT \(limit)
                    )
                ) AS found
                ORDER BY bundle_id, product_id, original_transaction_id LIMIT \(limit)
            ) AS owned
            LEFT JOIN subscriptions ON owned.ends_at IS NOT NULL
                AND subscriptions.id = owned.original_transaction_id
            ORDER BY owned.bundle_id, owned.product_id, owned.original_transaction_id
            """
    }

    /// Reads the balances of an account, from the database of `fulfillment`.
    ///
    /// Each is one row, however many purchases have credited something.
    ///
    /// - Returns: The balances, and whether there are more.
    static func balances(
        of account: AccountID,
        limit: Int = balancesMax,
        on connection: isolated PostgresConnection
    ) throws -> (balances: [AccountHoldings.Balance], isCut: Bool) {
        let rows = try connection.query(
            """
            SELECT bundle_id, unit, balance::bigint FROM credit_balances
            WHERE account_id = \(account)
            ORDER BY bundle_id, unit LIMIT \(Int64(limit + 1))
            """
        )
        let balances = try rows.prefix(limit).map { row in
            let (bundle, unit, amount) = try row.decode(
                BundleID.self,
                String.self,
                Int64.self
            )
            return AccountHoldings.Balance(bundleID: bundle, unit: unit, amount: amount)
        }
        return (balances, rows.count > limit)
    }

    /// Reads the purchases that wait for the app, from the database of `payments`.
    static func intents(
        of account: AccountID,
        on connection: isolated PostgresConnection
    ) throws -> [AccountHoldings.Intent] {
        try connection.query(
            """
            SELECT bundle_id, product_id, quantity, created_at FROM purchase_intents
            WHERE account_id = \(account) AND ended_at IS NULL
            ORDER BY created_at, id LIMIT \(intentsMax)
            """
        ).map { row in
            let (bundle, product, quantity, created) = try row.decode(
                BundleID.self,
                ProductID.self,
                Int32.self,
                StoreTime.self
            )
            return AccountHoldings.Intent(
                bundleID: bundle,
                productID: product,
                quantity: Int(quantity),
                createdAt: created
            )
        }
    }

    /// Reads in which apps an account may pay, and its families, from the database of `payments`.
    static func standings(
        of account: AccountID,
        on connection: isolated PostgresConnection
    ) throws -> [AccountHoldings.Standing] {
        try connection.query(
            """
            SELECT bundle_id, can_make_payments, storefront, data
            FROM (
                SELECT bundle_id, can_make_payments, storefront FROM accounts
                WHERE account_id = \(account) ORDER BY bundle_id LIMIT \(appsMax)
            ) AS known
            FULL JOIN (
                SELECT bundle_id, family_id FROM family_members
                WHERE account_id = \(account) ORDER BY bundle_id LIMIT \(appsMax)
            ) AS members USING (bundle_id)
            LEFT JOIN (SELECT id, data FROM families) AS families
                ON families.id = members.family_id
            ORDER BY 1
            """
        ).map { row in
            let (bundle, canMakePayments, storefront, family) = try row.decode(
                BundleID.self,
                Bool?.self,
                Storefront?.self,
                PostgresJSON?.self
            )
            return AccountHoldings.Standing(
                bundleID: bundle,
                canMakePayments: canMakePayments ?? true,
                storefront: storefront,
                family: try family.map { try $0.decode(Family.self) }
            )
        }
    }
}

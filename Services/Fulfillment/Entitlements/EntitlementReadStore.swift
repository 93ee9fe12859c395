import EventTypes
import Messaging
import Postgres
import StoreAPI

/// The SQL of what accounts own.
enum EntitlementReadStore {
    /// The number of entitlements on a page.
    static let pageSize = 200

    /// The columns from which an entitlement is decoded.
    private static let columns = """
        owned.account_id, owned.bundle_id, owned.product_id, owned.original_transaction_id,
        owned.chain_id, owned.granted_at, owned.revoked_at, owned.ends_at, subscriptions.data,
        products.entitlements
        """

    /// Whether a family's share of a period does not count, because another share of the same
    /// subscription does: the newest of those that stand, or else the newest of all.
    ///
    /// The other one may be on another page.
    private static let isReplaced = """
        CASE WHEN owned.chain_id IS NULL THEN false ELSE EXISTS (
            SELECT FROM entitlements AS other
            WHERE other.account_id = owned.account_id AND other.bundle_id = owned.bundle_id
                AND other.product_id = owned.product_id AND other.chain_id = owned.chain_id
                AND (other.revoked_at IS NULL, other.original_transaction_id)
                    > (owned.revoked_at IS NULL, owned.original_transaction_id)) END
        """

    /// Reads a page of an account's entitlements, the newest purchases first, in one statement.
    ///
    /// A page has a few more if its last purchase gave several.
    ///
    /// - Parameters:
    ///   - queue: The account in its app.
    ///   - after: The end of the page before; `nil` for the first page.
    ///   - limit: The number of entitlements.
    ///   - time: The present.
    ///   - connection: A connection.
    /// - Returns: The page. An entitlement that has not begun yet is left out, and so is a share if
    ///   another one of its subscription counts.
    /// - Throws: `PostgresError`; `DecodingError` if a row is not as it was written.
    static func page(
        of queue: QueueKey,
        after: TransactionID?,
        limit: Int,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> EntitlementPage {
        let rows = try connection.query(pageStatement(of: queue, after: after, limit: limit))
        var owned: [OwnedEntitlement] = []
        var first: TransactionID?
        for row in rows {
            let read = try decode(row, at: time)
            if first == nil { first = read.original }
            if let entitlement = read.entitlement, !read.isReplaced { owned.append(entitlement) }
        }
        return EntitlementPage(owned: owned, next: rows.count < limit ? nil : first)
    }

    /// The statement that reads a page; its order is that of one index only.
    ///
    /// - Parameters:
    ///   - queue: The account in its app.
    ///   - after: The end of the page before; `nil` for the first page.
    ///   - limit: The number of entitlements.
    ///   - prefix: Text before the statement, such as `EXPLAIN`.
    /// - Returns: The statement.
    static func pageStatement(
        of queue: QueueKey,
        after: TransactionID?,
        limit: Int,
        prefix: String = ""
    ) -> SQL {
        """
        \(unsafe: prefix) SELECT \(unsafe: columns), \(unsafe: isReplaced)
        FROM (
            SELECT * FROM entitlements
            WHERE account_id = \(queue.accountID) AND bundle_id = \(queue.bundleID)
                AND original_transaction_id < \(after?.number ?? Int64.max)
            ORDER BY original_transaction_id DESC
            FETCH FIRST \(Int64(limit)) ROWS WITH TIES
        ) AS owned
            LEFT JOIN subscriptions ON owned.ends_at IS NOT NULL
                AND subscriptions.id = owned.original_transaction_id
            LEFT JOIN products ON products.id = owned.product_id
        ORDER BY owned.original_transaction_id, owned.product_id
        """
    }

    /// Reads those entitlements of accounts by which a name may hold now, in one statement.
    ///
    /// Of the purchases of a product, only the one that lasts longest is among them, so an account
    /// with very many has few rows. Each subscription is there by itself: its dates decide.
    ///
    /// - Parameters:
    ///   - queues: The accounts in their apps.
    ///   - time: The present.
    ///   - connection: A connection.
    /// - Returns: The entitlements of each, ordered by the transactions that granted them.
    /// - Throws: `PostgresError`; `DecodingError` if a row is not as it was written.
    static func lasting(
        of queues: Set<QueueKey>,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [QueueKey: [OwnedEntitlement]] {
        guard !queues.isEmpty else { return [:] }
        let rows = try connection.query(lastingStatement(of: queues, at: time))
        var owned: [QueueKey: [OwnedEntitlement]] = [:]
        for row in rows {
            let read = try decode(row, at: time)
            if let entitlement = read.entitlement {
                owned[read.queue, default: []].append(entitlement)
            }
        }
        return owned
    }

    /// The statement that reads what lasts longest.
    ///
    /// It goes from product to product in the order of an index, and reads one row of each. So it
    /// reads no more for a product that was bought a million times.
    ///
    /// - Parameters:
    ///   - queues: The accounts in their apps.
    ///   - time: The present.
    ///   - prefix: Text before the statement, such as `EXPLAIN`.
    /// - Returns: The statement.
    static func lastingStatement(
        of queues: Set<QueueKey>,
        at time: StoreTime,
        prefix: String = ""
    ) -> SQL {
        """
        \(unsafe: prefix) WITH RECURSIVE wanted AS (
            SELECT * FROM unnest(\(queues.map(\.accountID)), \(queues.map(\.bundleID)))
                AS queue (account_id, bundle_id)
        ), held AS (
            SELECT lowest.* FROM wanted CROSS JOIN LATERAL (
                SELECT account_id, bundle_id, product_id FROM entitlements
                WHERE account_id = wanted.account_id AND bundle_id = wanted.bundle_id
                    AND revoked_at IS NULL
                ORDER BY product_id LIMIT 1
            ) AS lowest
            UNION ALL
            SELECT higher.* FROM held CROSS JOIN LATERAL (
                SELECT account_id, bundle_id, product_id FROM entitlements
                WHERE account_id = held.account_id AND bundle_id = held.bundle_id
                    AND product_id > held.product_id AND revoked_at IS NULL
                ORDER BY product_id LIMIT 1
            ) AS higher
        )
        SELECT \(unsafe: columns), false FROM (
            SELECT longest.* FROM held CROSS JOIN LATERAL (
                SELECT * FROM entitlements AS one
                WHERE account_id = held.account_id AND bundle_id = held.bundle_id
                    AND product_id = held.product_id AND revoked_at IS NULL
                    AND NOT EXISTS (
                        SELECT FROM subscriptions
                        WHERE one.ends_at IS NOT NULL
                            AND subscriptions.id = one.original_transaction_id)
                ORDER BY ends_at DESC NULLS FIRST, original_transaction_id LIMIT 1
            ) AS longest
            WHERE longest.ends_at IS NULL OR longest.ends_at > \(time)
            UNION ALL
            SELECT begun.* FROM wanted
                JOIN subscriptions AS known ON known.account_id = wanted.account_id
                    AND known.bundle_id = wanted.bundle_id
                JOIN entitlements AS begun ON begun.account_id = known.account_id
                    AND begun.bundle_id = known.bundle_id
                    AND begun.original_transaction_id = known.id
            WHERE begun.revoked_at IS NULL AND begun.ends_at IS NOT NULL
        ) AS owned
            JOIN products ON products.id = owned.product_id
            LEFT JOIN subscriptions ON owned.ends_at IS NOT NULL
                AND subscriptions.id = owned.original_transaction_id
        ORDER BY owned.original_transaction_id, owned.product_id
        """
    }

    /// A row as it was read.
    private struct ReadRow {
        let queue: QueueKey
        /// The purchase that granted it, or the share of a period.
        let original: TransactionID
        /// The entitlement, with the end that its subscription gives it; `nil` if it has not begun.
        let entitlement: OwnedEntitlement?
        /// Whether another share of the same subscription counts instead.
        let isReplaced: Bool
    }

    private static func decode(_ row: PostgresRow, at time: StoreTime) throws -> ReadRow {
        let (
            account, bundle, product, number, chain, grantedAt, revokedAt, endsAt, data, names,
            isReplaced
        ) = try row.decode(
            AccountID.self,
            BundleID.self,
            ProductID.self,
            Int64.self,
            Int64?.self,
            StoreTime.self,
            StoreTime?.self,
            StoreTime?.self,
            PostgresJSON?.self,
            PostgresJSON?.self,
            Bool.self
        )
        let original = TransactionID(number: number)
        let granted = Entitlement(
            productID: product,
            originalTransactionID: TransactionID(number: chain ?? number),
            grantedAt: grantedAt,
            revokedAt: revokedAt,
            endsAt: endsAt
        )
        let subscription = try data.map { try $0.decodePlain(Subscription.self) }
        let present: Entitlement? =
            if let subscription {
                SubscriptionEntitlementRules.entitlement(granted, of: subscription, at: time)
            } else {
                granted
            }
        let named = try names.map(ProductNamesStore.decode) ?? []
        return ReadRow(
            queue: QueueKey(accountID: account, bundleID: bundle),
            original: original,
            entitlement: present.map {
                OwnedEntitlement(
                    entitlement: $0,
                    transactionID: subscription?.runningPeriod(at: time).transactionID ?? original,
                    names: named
                )
            },
            isReplaced: isReplaced
        )
    }
}

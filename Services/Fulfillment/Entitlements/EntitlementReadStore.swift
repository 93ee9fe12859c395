import EventTypes
import Messaging
import Postgres
import StoreAPI

/// The SQL of what accounts own.
enum EntitlementReadStore {
    /// Reads the entitlements of accounts, with the ends that subscriptions give them, in one
    /// statement.
    ///
    /// - Parameters:
    ///   - queues: The accounts in their apps.
    ///   - time: The present.
    ///   - connection: A connection.
    /// - Returns: The entitlements of each, ordered by the transactions that granted them. An
    ///   entitlement that has not begun yet is left out.
    /// - Throws: `PostgresError`; `DecodingError` if a row is not as it was written.
    static func owned(
        by queues: Set<QueueKey>,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [QueueKey: [OwnedEntitlement]] {
        guard !queues.isEmpty else { return [:] }
        let rows = try connection.query(
            """
            SELECT owned.account_id, owned.bundle_id, owned.product_id,
                owned.original_transaction_id, owned.granted_at, owned.revoked_at, owned.ends_at,
                subscriptions.data, products.entitlements
            FROM unnest(\(queues.map(\.accountID)), \(queues.map(\.bundleID)))
                    AS wanted (account_id, bundle_id)
                JOIN entitlements AS owned ON owned.account_id = wanted.account_id
                    AND owned.bundle_id = wanted.bundle_id
                LEFT JOIN subscriptions ON owned.ends_at IS NOT NULL
                    AND subscriptions.id = owned.original_transaction_id
                LEFT JOIN products ON products.id = owned.product_id
            ORDER BY owned.original_transaction_id, owned.product_id
            """
        )
        var owned: [QueueKey: [OwnedEntitlement]] = [:]
        for row in rows {
            let (account, bundle, product, number, grantedAt, revokedAt, endsAt, data, names) =
                try row.decode(
                    AccountID.self,
                    BundleID.self,
                    ProductID.self,
                    Int64.self,
                    StoreTime.self,
                    StoreTime?.self,
                    StoreTime?.self,
                    PostgresJSON?.self,
                    PostgresJSON?.self
                )
            let original = TransactionID(number: number)
            let granted = Entitlement(
                productID: product,
                originalTransactionID: original,
                grantedAt: grantedAt,
                revokedAt: revokedAt,
                endsAt: endsAt
            )
            let subscription = try data.map { try $0.decodePlain(Subscription.self) }
            let present = subscription.map {
                SubscriptionEntitlementRules.entitlement(granted, of: $0, at: time)
            }
            guard let entitlement = present ?? granted else { continue }
            owned[QueueKey(accountID: account, bundleID: bundle), default: []].append(
                OwnedEntitlement(
                    entitlement: entitlement,
                    transactionID: subscription?.runningPeriod(at: time).transactionID ?? original,
                    names: try names.map(ProductNamesStore.decode) ?? []
                )
            )
        }
        return owned
    }
}

import EventTypes
import Postgres

/// The statements that compare what families share with what they should.
enum FamilyShareStore {
    /// A purchase that a member of the buyer's family should have and has not.
    struct Missing: Hashable, Sendable {
        let purchaseID: TransactionID
        let member: AccountID
    }

    /// Locks the family of an account; nobody joins, leaves or gets a share of it meanwhile.
    static func lockFamily(
        of account: AccountKey,
        on connection: isolated PostgresConnection
    ) throws {
        _ = try connection.query(
            """
            SELECT FROM families f JOIN family_members m ON m.family_id = f.id
            WHERE m.account_id = \(account.accountID) AND m.bundle_id = \(account.bundleID)
            FOR UPDATE OF f
            """
        )
    }

    /// The shares that an account should have of the others, and they of it.
    static func missing(
        around account: AccountKey,
        at time: StoreTime,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [Missing] {
        try connection.query(
            """
            SELECT t.id, m.account_id FROM family_members own
            JOIN family_members sharer ON sharer.family_id = own.family_id AND sharer.is_sharing
            JOIN family_members m
                ON m.family_id = own.family_id AND m.account_id <> sharer.account_id
                AND own.account_id IN (m.account_id, sharer.account_id)
            JOIN transactions t
                ON t.account_id = sharer.account_id AND t.bundle_id = sharer.bundle_id
            WHERE own.account_id = \(account.accountID) AND own.bundle_id = \(account.bundleID)
                AND \(unsafe: isShareable)
                AND coalesce(\(unsafe: periodEnd("t")) > \(time.millisecondsSinceEpoch), true)
                AND NOT EXISTS (
                    SELECT FROM transactions c
                    WHERE c.shared_from = t.id AND c.account_id = m.account_id
                        AND c.reason = 'familyShared' AND c.revoked_at IS NULL)
            ORDER BY t.id, m.account_id LIMIT \(Int64(limit))
            """
        ).map { row in
            let (id, member) = try row.decode(Int64.self, AccountID.self)
            return Missing(purchaseID: TransactionID(number: id), member: member)
        }
    }

    /// The shares that an account has of others, or others of it, although they should not.
    ///
    /// A share of a period that was extended is one of them: it ends too early.
    static func surplus(
        around account: AccountKey,
        at time: StoreTime,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID] {
        try connection.query(
            """
            SELECT c.id FROM transactions c
            JOIN (
                SELECT id FROM transactions
                WHERE account_id = \(account.accountID) AND bundle_id = \(account.bundleID)
                    AND product_type IN ('nonConsumable', 'autoRenewableSubscription')
                    AND reason = 'familyShared' AND revoked_at IS NULL
                UNION ALL
                SELECT s.id FROM transactions bought
                JOIN transactions s ON s.shared_from = bought.id AND s.reason = 'familyShared'
                    AND s.revoked_at IS NULL
                WHERE bought.account_id = \(account.accountID)
                    AND bought.bundle_id = \(account.bundleID)
                    AND bought.product_type IN ('nonConsumable', 'autoRenewableSubscription')
            ) AS near ON near.id = c.id
            LEFT JOIN transactions bought ON bought.id = c.shared_from
            -- A period that is over takes its share with it.
            WHERE coalesce(
                greatest(\(unsafe: periodEnd("c")), \(unsafe: periodEnd("bought")))
                    > \(time.millisecondsSinceEpoch),
                true)
            AND NOT EXISTS (
                SELECT FROM transactions t
                JOIN family_members sharer
                    ON sharer.account_id = t.account_id AND sharer.bundle_id = t.bundle_id
                    AND sharer.is_sharing
                JOIN family_members m ON m.family_id = sharer.family_id
                WHERE t.id = c.shared_from AND m.account_id = c.account_id
                    AND \(unsafe: periodEnd("t")) IS NOT DISTINCT FROM \(unsafe: periodEnd("c"))
                    AND \(unsafe: isShareable))
            ORDER BY c.id LIMIT \(Int64(limit))
            """
        ).map { TransactionID(number: try $0.decode(Int64.self)) }
    }

    /// The end of a period in milliseconds; NULL for every product that is no subscription.
    private static func periodEnd(_ row: String) -> String {
        "(\(row).subscription->>'end')::bigint"
    }

    /// The condition under which a purchase is shared: it stands, its product is shareable, and if it
    /// is a period of a subscription, nothing has ended it early.
    private static let isShareable = """
        t.product_type IN ('nonConsumable', 'autoRenewableSubscription')
            AND t.reason IN ('purchase', 'renewal')
            AND t.state = 'purchased' AND t.revoked_at IS NULL
            AND (t.product_type = 'nonConsumable' OR EXISTS (
                SELECT FROM subscriptions s
                CROSS JOIN LATERAL (VALUES (s.data->'period'), (s.data->'earlierPeriod'))
                    AS paid (period)
                WHERE s.id = t.original_id AND paid.period->>'transactionID' = t.id::text
                    AND paid.period->>'earlyEnd' IS NULL))
            AND EXISTS (
                SELECT FROM products p
                WHERE p.id = t.product_id AND (p.data->>'isFamilyShareable')::boolean)
        """
}

import EventTypes
import Postgres

/// The statements that compare what families share with what they should.
enum FamilyShareStore {
    /// A purchase that a member of the buyer's family should have and has not.
    struct Missing: Hashable, Sendable {
        let purchaseID: TransactionID
        let member: AccountID
        /// The newest of the shares that the member has, or had, of the same subscription.
        let earlier: EarlierShare?
        /// The standing of that subscription, if the purchase is its newest period.
        let standing: Standing?
    }

    /// The newest share that a member has, or had, of a subscription.
    struct EarlierShare: Hashable, Sendable {
        /// The first of them, whose id all have in common (rule S1).
        let originalID: TransactionID
        let originalPurchasedAt: StoreTime?
        let sharedFrom: TransactionID?
        let isRevoked: Bool
        /// The state of the subscription when the share last followed it.
        let state: SubscriptionState?
    }

    /// A share that is to follow its purchase.
    struct Behind: Hashable, Sendable {
        let id: TransactionID
        /// The end of the period that it shares.
        let end: StoreTime
        /// The standing of the subscription; `nil` if the period is not its newest one any more.
        let standing: Standing?
    }

    /// The standing of a subscription whose newest period is shared.
    struct Standing: Hashable, Sendable {
        let state: SubscriptionState
        let gracePeriodEnd: StoreTime?
        let expirationIntent: ExpirationIntent?
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
            SELECT t.id, m.account_id, earlier.original_id, earlier.original_purchased_at,
                earlier.shared_from, earlier.revoked_at IS NOT NULL,
                earlier.subscription->'shared'->>'state', \(unsafe: standingColumns)
            FROM family_members own
            JOIN family_members sharer ON sharer.family_id = own.family_id AND sharer.is_sharing
            JOIN family_members m
                ON m.family_id = own.family_id AND m.account_id <> sharer.account_id
                AND own.account_id IN (m.account_id, sharer.account_id)
            JOIN transactions t
                ON t.account_id = sharer.account_id AND t.bundle_id = sharer.bundle_id
            LEFT JOIN subscriptions s ON \(unsafe: isNewestPeriod)
            LEFT JOIN LATERAL (
                SELECT c.original_id, c.original_purchased_at, c.shared_from, c.revoked_at,
                    c.subscription
                FROM transactions c JOIN transactions bought ON bought.id = c.shared_from
                -- Inside, because a condition of the join would read all this for each purchase.
                WHERE t.product_type = 'autoRenewableSubscription'
                    AND c.account_id = m.account_id AND c.bundle_id = m.bundle_id
                    AND c.product_type = 'autoRenewableSubscription'
                    AND c.reason = 'familyShared' AND bought.original_id = t.original_id
                ORDER BY c.id DESC LIMIT 1
            ) AS earlier ON true
            WHERE own.account_id = \(account.accountID) AND own.bundle_id = \(account.bundleID)
                AND \(unsafe: isShareable)
                AND coalesce(
                    greatest(\(unsafe: periodEnd("t")), (s.data->>'gracePeriodEnd')::bigint)
                        > \(time.millisecondsSinceEpoch),
                    true)
                AND NOT EXISTS (
                    SELECT FROM transactions c
                    WHERE c.shared_from = t.id AND c.account_id = m.account_id
                        AND c.reason = 'familyShared' AND c.revoked_at IS NULL)
            ORDER BY t.id, m.account_id LIMIT \(Int64(limit))
            """
        ).map(missing(in:))
    }

    private static func missing(in row: PostgresRow) throws -> Missing {
        let (
            id, member, chain, chainBegan, sharedFrom, isRevoked, earlierState, state,
            gracePeriodEnd, intent
        ) = try row.decode(
            Int64.self,
            AccountID.self,
            Int64?.self,
            StoreTime?.self,
            Int64?.self,
            Bool.self,
            String?.self,
            String?.self,
            Int64?.self,
            Int32?.self
        )
        return Missing(
            purchaseID: TransactionID(number: id),
            member: member,
            earlier: chain.map {
                EarlierShare(
                    originalID: TransactionID(number: $0),
                    originalPurchasedAt: chainBegan,
                    sharedFrom: sharedFrom.map(TransactionID.init(number:)),
                    isRevoked: isRevoked,
                    state: earlierState.map(SubscriptionState.init(rawValue:))
                )
            },
            standing: standing(state, gracePeriodEnd, intent)
        )
    }

    /// The shares that stand around an account, and whose purchases have changed since: a period was
    /// extended, or its subscription has another state.
    static func behind(
        around account: AccountKey,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [Behind] {
        try connection.query(
            """
            SELECT c.id, \(unsafe: periodEnd("t")), \(unsafe: standingColumns)
            FROM family_members own
            JOIN family_members sharer ON sharer.family_id = own.family_id AND sharer.is_sharing
            JOIN family_members m
                ON m.family_id = own.family_id AND m.account_id <> sharer.account_id
                AND own.account_id IN (m.account_id, sharer.account_id)
            JOIN transactions t
                ON t.account_id = sharer.account_id AND t.bundle_id = sharer.bundle_id
            JOIN transactions c
                ON c.shared_from = t.id AND c.account_id = m.account_id
                AND c.reason = 'familyShared' AND c.revoked_at IS NULL
            LEFT JOIN subscriptions s ON \(unsafe: isNewestPeriod)
            WHERE own.account_id = \(account.accountID) AND own.bundle_id = \(account.bundleID)
                AND t.product_type = 'autoRenewableSubscription' AND \(unsafe: isShareable)
                AND (\(unsafe: periodEnd("t")) <> \(unsafe: periodEnd("c"))
                    OR (c.subscription->'shared'->>'gracePeriodEnd')
                        IS DISTINCT FROM (s.data->>'gracePeriodEnd')
                    OR s.data->>'state' <> 'revoked'
                        AND s.data->>'state' <> c.subscription->'shared'->>'state')
            ORDER BY c.id LIMIT \(Int64(limit))
            """
        ).map { row in
            let (id, end, state, gracePeriodEnd, intent) = try row.decode(
                Int64.self,
                Int64.self,
                String?.self,
                Int64?.self,
                Int32?.self
            )
            return Behind(
                id: TransactionID(number: id),
                end: StoreTime(millisecondsSinceEpoch: end),
                standing: standing(state, gracePeriodEnd, intent)
            )
        }
    }

    /// The shares that an account has of others, or others of it, although they should not.
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
                greatest(
                    \(unsafe: periodEnd("c")), \(unsafe: periodEnd("bought")),
                    (c.subscription->'shared'->>'gracePeriodEnd')::bigint)
                    > \(time.millisecondsSinceEpoch),
                true)
            AND NOT EXISTS (
                SELECT FROM transactions t
                JOIN family_members sharer
                    ON sharer.account_id = t.account_id AND sharer.bundle_id = t.bundle_id
                    AND sharer.is_sharing
                JOIN family_members m ON m.family_id = sharer.family_id
                WHERE t.id = c.shared_from AND m.account_id = c.account_id
                    AND \(unsafe: isShareable))
            ORDER BY c.id LIMIT \(Int64(limit))
            """
        ).map { TransactionID(number: try $0.decode(Int64.self)) }
    }

    /// The end of a period in milliseconds; NULL for every product that is no subscription.
    private static func periodEnd(_ row: String) -> String {
        "(\(row).subscription->>'end')::bigint"
    }

    /// The condition under which a purchase is the newest period of a subscription.
    private static let isNewestPeriod = """
        s.id = t.original_id AND t.product_type = 'autoRenewableSubscription'
            AND s.data->'period'->>'transactionID' = t.id::text
        """

    /// The columns of ``Standing``.
    private static let standingColumns = """
        s.data->>'state', (s.data->>'gracePeriodEnd')::bigint,
            (s.data->>'expirationIntent')::integer
        """

    private static func standing(
        _ state: String?,
        _ gracePeriodEnd: Int64?,
        _ intent: Int32?
    ) -> Standing? {
        state.map { state in
            Standing(
                state: SubscriptionState(rawValue: state),
                gracePeriodEnd: gracePeriodEnd.map(StoreTime.init(millisecondsSinceEpoch:)),
                expirationIntent: intent.flatMap { ExpirationIntent(rawValue: Int($0)) }
            )
        }
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

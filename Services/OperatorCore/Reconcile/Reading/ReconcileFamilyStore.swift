import EventTypes
import Postgres

/// Reads where the shares of families and the purchases of their members disagree.
///
/// Whatever changes shares notes its account in the same database transaction, so shares around an
/// account that is noted may be on their way. The share of a period that is over stays as it is,
/// whatever becomes of the purchase or the family.
enum ReconcileFamilyStore {
    /// The disagreements, each with the share, or with the purchase that is not shared.
    static func differences(
        at time: StoreTime,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [(transactionID: TransactionID, detail: String)] {
        let wrong = try wrongShares(at: time, limit: limit, on: connection)
        let missing = try missingShares(at: time, limit: limit, on: connection)
        return Array((wrong + missing).prefix(limit))
    }

    private static func wrongShares(
        at time: StoreTime,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [(transactionID: TransactionID, detail: String)] {
        try connection.query(
            """
            SELECT c.id, CASE
                WHEN t.id IS NULL THEN 'it shares a purchase that is unknown'
                WHEN t.revoked_at IS NOT NULL THEN 'it shares a purchase that was refunded'
                WHEN m.family_id IS NULL THEN c.account_id || ' is in no family'
                WHEN sharer.family_id = m.family_id AND sharer.is_sharing
                    THEN 'it has a grace period that the purchase does not have'
                ELSE t.account_id || ' does not share with ' || c.account_id END
            FROM transactions c
            LEFT JOIN transactions t ON t.id = c.shared_from
            LEFT JOIN family_members m
                ON m.account_id = c.account_id AND m.bundle_id = c.bundle_id
            LEFT JOIN family_members sharer
                ON sharer.account_id = t.account_id AND sharer.bundle_id = t.bundle_id
            LEFT JOIN subscriptions bought ON bought.id = t.original_id
            WHERE c.reason = 'familyShared' AND c.revoked_at IS NULL
                AND (t.id IS NULL OR t.revoked_at IS NOT NULL OR m.family_id IS NULL
                    OR sharer.family_id IS NULL OR sharer.family_id <> m.family_id
                    OR NOT sharer.is_sharing
                    OR c.subscription->'shared'->>'gracePeriodEnd' IS NOT NULL
                        AND bought.data->>'gracePeriodEnd' IS NULL)
                AND coalesce(
                    greatest(
                        (c.subscription->>'end')::bigint,
                        (t.subscription->>'end')::bigint,
                        (c.subscription->'shared'->>'gracePeriodEnd')::bigint)
                        > \(time.millisecondsSinceEpoch),
                    true)
                AND (bought.data->'period'->>'transactionID' <> t.id::text) IS NOT TRUE
                AND NOT EXISTS (
                    SELECT FROM family_work w
                    WHERE w.account_id IN (c.account_id, t.account_id)
                        AND w.bundle_id = c.bundle_id)
            LIMIT \(Int64(limit))
            """
        ).map(difference)
    }

    private static func missingShares(
        at time: StoreTime,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [(transactionID: TransactionID, detail: String)] {
        try connection.query(
            """
            SELECT t.id, m.account_id || ' has no share of it'
            FROM family_members sharer
            JOIN family_members m
                ON m.family_id = sharer.family_id AND m.account_id <> sharer.account_id
            JOIN transactions t
                ON t.account_id = sharer.account_id AND t.bundle_id = sharer.bundle_id
            JOIN products p ON p.id = t.product_id
            -- Only the newest period has a grace period.
            LEFT JOIN subscriptions newest ON newest.id = t.original_id
                AND newest.data->'period'->>'transactionID' = t.id::text
            WHERE sharer.is_sharing
                AND t.product_type IN ('nonConsumable', 'autoRenewableSubscription')
                AND t.reason IN ('purchase', 'renewal')
                AND t.state = 'purchased' AND t.revoked_at IS NULL
                AND (p.data->>'isFamilyShareable')::boolean
                AND coalesce(
                    greatest(
                        (t.subscription->>'end')::bigint,
                        (newest.data->>'gracePeriodEnd')::bigint)
                        > \(time.millisecondsSinceEpoch),
                    true)
                AND (t.product_type = 'nonConsumable' OR EXISTS (
                    SELECT FROM subscriptions s
                    CROSS JOIN LATERAL (VALUES (s.data->'period'), (s.data->'earlierPeriod'))
                        AS paid (period)
                    WHERE s.id = t.original_id AND paid.period->>'transactionID' = t.id::text
                        AND paid.period->>'earlyEnd' IS NULL))
                AND NOT EXISTS (
                    SELECT FROM transactions c
                    WHERE c.shared_from = t.id AND c.account_id = m.account_id
                        AND c.reason = 'familyShared' AND c.revoked_at IS NULL
                        AND (c.subscription->>'end') IS NOT DISTINCT FROM (t.subscription->>'end')
                        AND (c.subscription->'shared'->>'gracePeriodEnd')
                            IS NOT DISTINCT FROM (newest.data->>'gracePeriodEnd'))
                AND NOT EXISTS (
                    SELECT FROM family_work w
                    WHERE w.account_id IN (m.account_id, t.account_id)
                        AND w.bundle_id = t.bundle_id)
            LIMIT \(Int64(limit))
            """
        ).map(difference)
    }

    private static func difference(
        _ row: PostgresRow
    ) throws -> (transactionID: TransactionID, detail: String) {
        let (id, detail) = try row.decode(Int64.self, String.self)
        return (TransactionID(number: id), detail)
    }
}

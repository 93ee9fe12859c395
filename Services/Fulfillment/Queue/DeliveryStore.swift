import EventTypes
import Postgres
import StoreAPI

/// The SQL of deliveries, and of the entitlements and credits they give.
enum DeliveryStore {
    /// Records the deliveries of paid transactions.
    static func insert(
        _ owed: [QueuePlan.Timed<DeliveryRules.Delivery>],
        on connection: isolated PostgresConnection
    ) throws {
        guard !owed.isEmpty else { return }
        let deliveries = owed.map(\.value)
        try connection.execute(
            """
            INSERT INTO deliveries
                (transaction_id, target, kind, url, host, state, next_attempt_at, delivered_at)
            SELECT * FROM unnest(
                \(deliveries.map(\.transactionID.number)), \(deliveries.map(\.target)),
                \(deliveries.map(\.kind)), \(deliveries.map(\.url)),
                \(deliveries.map { $0.url.map(EndpointAddress.host(of:)) }),
                \(deliveries.map(\.state.rawValue)),
                \(owed.map { $0.value.url != nil && $0.value.state == .pending ? $0.time : nil }),
                \(owed.map { $0.value.state == .delivered ? $0.time : nil })
            )
            ON CONFLICT (transaction_id, target) DO NOTHING
            """
        )
    }

    /// Writes the entitlements and credits that purchases give.
    ///
    /// Rows that exist already are left as they are.
    static func grant(
        _ plan: QueuePlan,
        on connection: isolated PostgresConnection
    ) throws {
        let entitlements = plan.entitlements
        if !entitlements.isEmpty {
            try connection.execute(
                """
                INSERT INTO entitlements
                    (account_id, bundle_id, product_id, original_transaction_id, granted_at)
                SELECT * FROM unnest(
                    \(entitlements.map(\.queue.accountID)), \(entitlements.map(\.queue.bundleID)),
                    \(entitlements.map(\.productID)), \(entitlements.map(\.originalID.number)),
                    \(entitlements.map(\.time))
                )
                ON CONFLICT DO NOTHING
                """
            )
        }
        let credits = plan.credits.map(\.value)
        if !credits.isEmpty {
            try connection.execute(
                """
                INSERT INTO credit_entries
                    (transaction_id, account_id, bundle_id, unit, kind, amount, created_at)
                SELECT transaction_id, account_id, bundle_id, unit, 'grant', amount, time
                FROM unnest(
                    \(credits.map(\.transactionID.number)), \(credits.map(\.queue.accountID)),
                    \(credits.map(\.queue.bundleID)), \(credits.map(\.unit)),
                    \(credits.map(\.amount)), \(plan.credits.map(\.time))
                ) AS given (transaction_id, account_id, bundle_id, unit, amount, time)
                ON CONFLICT (transaction_id, unit, kind) DO NOTHING
                """
            )
        }
    }

    /// Takes back what refunded transactions gave.
    ///
    /// Pending deliveries become void, entitlements are revoked, and each credit is reversed by an
    /// entry of its own, even if the balance falls below zero.
    ///
    /// A purchase's webhook may be under way. It ends within its lease, and the webhook that
    /// reports the refund waits that long, so it never arrives first.
    static func takeBack(
        _ plan: QueuePlan,
        webhookLease: Duration = .zero,
        on connection: isolated PostgresConnection
    ) throws {
        guard !plan.takenBack.isEmpty else { return }
        let ids = plan.takenBack.map(\.value.number)
        try connection.execute(
            """
            WITH voided AS (
                UPDATE deliveries SET state = 'void', next_attempt_at = NULL
                WHERE transaction_id = ANY(\(ids)) AND state = 'pending'
                    AND target NOT LIKE '%:refund'
                RETURNING transaction_id, split_part(target, ':', 1) AS place, last_attempt_at
            )
            UPDATE deliveries
            SET next_attempt_at = greatest(
                deliveries.next_attempt_at,
                voided.last_attempt_at + \(webhookLease.milliseconds) * interval '1 millisecond'
            )
            FROM voided
            WHERE deliveries.transaction_id = voided.transaction_id
                AND deliveries.target = voided.place || ':refund' AND state = 'pending'
            """
        )
        try connection.execute(
            """
            INSERT INTO credit_entries
                (transaction_id, account_id, bundle_id, unit, kind, amount, created_at)
            SELECT transaction_id, account_id, bundle_id, unit, 'revoke', -amount, taken.time
            FROM credit_entries
            JOIN unnest(\(ids), \(plan.takenBack.map(\.time))) AS taken (transaction_id, time)
                USING (transaction_id)
            WHERE kind = 'grant'
            ON CONFLICT (transaction_id, unit, kind) DO NOTHING
            """
        )
        let revoked = plan.revokedEntitlements
        guard !revoked.isEmpty else { return }
        try connection.execute(
            """
            UPDATE entitlements SET revoked_at = revoked.revoked_at
            FROM unnest(
                \(revoked.map(\.queue.accountID)), \(revoked.map(\.queue.bundleID)),
                \(revoked.map(\.productID)), \(revoked.map(\.originalID.number)),
                \(revoked.map(\.time))
            ) AS revoked
                (account_id, bundle_id, product_id, original_transaction_id, revoked_at)
            WHERE entitlements.account_id = revoked.account_id
                AND entitlements.bundle_id = revoked.bundle_id
                AND entitlements.product_id = revoked.product_id
                AND entitlements.original_transaction_id = revoked.original_transaction_id
                AND entitlements.revoked_at IS NULL
            """
        )
    }
}

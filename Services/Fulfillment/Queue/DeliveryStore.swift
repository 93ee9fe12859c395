import EventTypes
import Postgres
import StoreAPI

/// The SQL of deliveries, and of the entitlements and credits they give.
enum DeliveryStore {
    /// Records the deliveries of transactions.
    ///
    /// Webhooks are due at once. One that reports a refund waits, without a time, until
    /// ``release(_:webhookLease:now:on:)`` lets it go.
    static func insert(
        _ deliveries: [DeliveryRules.Delivery],
        dueAt now: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        guard !deliveries.isEmpty else { return }
        try connection.enqueue(
            """
            INSERT INTO deliveries
                (transaction_id, target, kind, url, host, state, version, next_attempt_at)
            SELECT * FROM unnest(
                \(deliveries.map(\.transactionID.number)), \(deliveries.map(\.target.rawValue)),
                \(deliveries.map(\.kind)), \(deliveries.map(\.url)),
                \(deliveries.map { $0.url.map(EndpointAddress.host(of:)) }),
                \(deliveries.map(\.state.rawValue)), \(deliveries.map { Int32($0.version) }),
                \(deliveries.map { Self.isDueAtOnce($0) ? now : nil })
            )
            ON CONFLICT (transaction_id, target) DO NOTHING
            """
        )
    }

    private static func isDueAtOnce(_ delivery: DeliveryRules.Delivery) -> Bool {
        delivery.url != nil && delivery.state == .pending && !delivery.isOfRefund
    }

    /// Writes the entitlements and credits that change.
    ///
    /// Grants that exist already are left as they are. A credit that is taken back is an entry of
    /// its own, even if the balance falls below zero.
    static func grant(
        _ plan: QueuePlan,
        on connection: isolated PostgresConnection
    ) throws {
        let granted = plan.entitlements.filter { !$0.isChanged }
        if !granted.isEmpty {
            try connection.enqueue(
                """
                INSERT INTO entitlements
                    (account_id, bundle_id, product_id, original_transaction_id, chain_id,
                    granted_at, ends_at)
                SELECT * FROM unnest(
                    \(granted.map(\.queue.accountID)), \(granted.map(\.queue.bundleID)),
                    \(granted.map(\.productID)), \(granted.map(\.originalID.number)),
                    \(granted.map { $0.chainID?.number }), \(granted.map(\.grantedAt)),
                    \(granted.map(\.endsAt))
                )
                ON CONFLICT DO NOTHING
                """
            )
        }
        let changed = plan.entitlements.filter(\.isChanged)
        if !changed.isEmpty {
            try connection.enqueue(
                """
                INSERT INTO entitlements
                    (account_id, bundle_id, product_id, original_transaction_id, chain_id,
                    granted_at, ends_at, revoked_at)
                SELECT * FROM unnest(
                    \(changed.map(\.queue.accountID)), \(changed.map(\.queue.bundleID)),
                    \(changed.map(\.productID)), \(changed.map(\.originalID.number)),
                    \(changed.map { $0.chainID?.number }), \(changed.map(\.grantedAt)),
                    \(changed.map(\.endsAt)), \(changed.map(\.revokedAt))
                )
                ON CONFLICT (account_id, bundle_id, product_id, original_transaction_id)
                    DO UPDATE SET revoked_at = excluded.revoked_at, ends_at = excluded.ends_at
                """
            )
        }
        let credits = plan.credits.map(\.value)
        if !credits.isEmpty {
            // Most batches have one value of each of these.
            let bundles = credits.map(\.queue.bundleID)
            let kinds = credits.map(\.kind.rawValue)
            let numbers = credits.map { Int32($0.number) }
            let times = plan.credits.map(\.time)
            try connection.enqueue(
                """
                INSERT INTO credit_entries
                    (transaction_id, account_id, bundle_id, unit, kind, number, amount, created_at)
                SELECT transaction_id, account_id, coalesce(bundle_id, \(ifEqual: bundles)), unit,
                    coalesce(kind, \(ifEqual: kinds)), coalesce(number, \(ifEqual: numbers)),
                    amount, coalesce(created_at, \(ifEqual: times))
                FROM unnest(
                    \(credits.map(\.transactionID.number)), \(credits.map(\.queue.accountID)),
                    \(unlessEqual: bundles), \(credits.map(\.unit)),
                    \(unlessEqual: kinds), \(unlessEqual: numbers),
                    \(credits.map(\.amount)), \(unlessEqual: times)
                ) AS u (transaction_id, account_id, bundle_id, unit, kind, number, amount,
                    created_at)
                ON CONFLICT (transaction_id, unit, kind, number) DO NOTHING
                """
            )
        }
    }

    /// Makes what is pending of purchases void, because they were taken back.
    ///
    /// The webhooks about their refunds stay.
    static func void(
        _ ids: [TransactionID],
        on connection: isolated PostgresConnection
    ) throws {
        guard !ids.isEmpty else { return }
        try connection.enqueue(
            """
            UPDATE deliveries SET state = 'void', next_attempt_at = NULL
            WHERE transaction_id = ANY(\(ids.map(\.number))) AND state = 'pending'
                AND target NOT LIKE '%:refund:%'
            """
        )
    }

    /// Makes the next webhook of each target of a plan due, unless an earlier one is still pending.
    ///
    /// So a merchant hears of a purchase, its refunds and their reversals one after the other. A
    /// void webhook may still be under way. It ends within its lease, and the next one waits that
    /// long.
    static func release(
        _ ids: Set<TransactionID>,
        webhookLease: Duration,
        now: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        guard !ids.isEmpty else { return }
        try connection.enqueue(
            """
            UPDATE deliveries
            SET next_attempt_at = greatest(
                \(now), first.void_at + \(webhookLease.milliseconds) * interval '1 millisecond'
            )
            FROM (
                SELECT DISTINCT ON (transaction_id, plan_index) transaction_id, target, void_at
                FROM (
                    SELECT transaction_id, target, state, version, plan_index,
                        max(last_attempt_at) FILTER (WHERE state = 'void')
                            OVER (PARTITION BY transaction_id, plan_index) AS void_at
                    FROM deliveries CROSS JOIN split_part(target, ':', 1) AS plan_index
                    WHERE transaction_id = ANY(\(ids.map(\.number))) AND kind = 'webhook'
                ) AS webhook
                WHERE state = 'pending'
                ORDER BY transaction_id, plan_index, version, target
            ) AS first
            WHERE deliveries.transaction_id = first.transaction_id
                AND deliveries.target = first.target AND deliveries.next_attempt_at IS NULL
            """
        )
    }
}

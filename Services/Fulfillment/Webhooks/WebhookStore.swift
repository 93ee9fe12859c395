import Callbacks
import EventTypes
import Messaging
import Postgres
import StoreTracing

/// The SQL of pending webhooks: leasing them, and recording how a try ended.
enum WebhookStore {
    /// Leases webhooks that are due.
    ///
    /// Each becomes due again only after its lease: until then no other sender takes it, and if
    /// this sender is killed, another takes it afterwards.
    static func lease(
        limit: Int,
        excluding hosts: [String],
        now: MachineTime,
        until lease: MachineTime,
        on connection: isolated PostgresConnection
    ) throws -> [Webhook] {
        let rows = try connection.query(
            """
            WITH pending AS MATERIALIZED (
                SELECT transaction_id, target FROM deliveries
                WHERE state = 'pending' AND kind = 'webhook' AND next_attempt_at <= \(now)
                    AND host <> ALL(\(hosts))
                ORDER BY next_attempt_at
                LIMIT \(limit)
                FOR UPDATE SKIP LOCKED
            ), again AS MATERIALIZED (
                SELECT transaction_id, target FROM deliveries
                WHERE state = 'delivered' AND next_attempt_at <= \(now) AND host <> ALL(\(hosts))
                ORDER BY next_attempt_at
                LIMIT \(limit)
                FOR UPDATE SKIP LOCKED
            ), due AS (
                SELECT * FROM pending UNION ALL SELECT * FROM again LIMIT \(limit)
            ), leased AS (
                UPDATE deliveries
                SET attempts = attempts + 1, last_attempt_at = \(now), next_attempt_at = \(lease)
                FROM due
                WHERE deliveries.transaction_id = due.transaction_id
                    AND deliveries.target = due.target
                RETURNING deliveries.transaction_id, deliveries.target, attempts, url, host
            )
            SELECT leased.transaction_id, target, attempts, url, host, account_id, bundle_id, state,
                transaction, traceparent
            FROM leased JOIN queue_transactions USING (transaction_id)
            """
        )
        return try rows.map { row in
            let (number, target, attempts, url, host, accountID, bundleID, state, packed, trace) =
                try row.decode(
                    Int64.self,
                    String.self,
                    Int32.self,
                    String.self,
                    String.self,
                    AccountID.self,
                    BundleID.self,
                    String.self,
                    [UInt8].self,
                    StoredTrace?.self
                )
            return Webhook(
                transactionID: TransactionID(number: number),
                target: DeliveryTargetName(rawValue: target),
                attempt: Int(attempts),
                url: url,
                host: host,
                queue: QueueKey(accountID: accountID, bundleID: bundleID),
                state: TransactionState(rawValue: state),
                snapshot: try TransactionSnapshot(packed: packed),
                traceparent: trace?.context
            )
        }
    }

    /// Returns the time at which the next webhook is due, or `nil` if none is pending.
    static func nextDue(on connection: isolated PostgresConnection) throws -> MachineTime? {
        let rows = try connection.query(
            """
            SELECT least(
                (
                    SELECT min(next_attempt_at) FROM deliveries
                    WHERE state = 'pending' AND kind = 'webhook'
                ),
                (
                    SELECT min(next_attempt_at) FROM deliveries
                    WHERE state = 'delivered' AND next_attempt_at IS NOT NULL
                )
            )
            """
        )
        guard let row = rows.first else { return nil }
        return try row.decode(MachineTime?.self)
    }

    /// Makes a transaction's webhooks due now, also those that were confirmed.
    ///
    /// One that waits for another goes on waiting.
    ///
    /// - Returns: The number of its webhooks that are not void, or `nil` if there is no such
    ///   transaction.
    static func askAgain(
        for id: TransactionID,
        at now: MachineTime,
        on connection: isolated PostgresConnection
    ) throws -> Int? {
        let rows = try connection.query(
            """
            WITH asked AS (
                UPDATE deliveries
                SET next_attempt_at = CASE
                    WHEN state = 'delivered' OR next_attempt_at IS NOT NULL THEN \(now)
                END
                WHERE transaction_id = \(id.number) AND kind = 'webhook' AND state <> 'void'
                RETURNING 1
            )
            SELECT (SELECT count(*) FROM asked)
            FROM queue_transactions WHERE transaction_id = \(id.number)
            """
        )
        return try rows.first.map { Int(try $0.decode(Int64.self)) }
    }

    /// Records tries that were confirmed.
    ///
    /// A delivery that has become void stays void. One that was sent again on request stays
    /// delivered.
    ///
    /// - Returns: The deliveries that were pending until now.
    @discardableResult
    static func confirm(
        _ confirmed: [DeliveryConfirmed],
        on connection: isolated PostgresConnection
    ) throws -> [DeliveryConfirmed] {
        guard !confirmed.isEmpty else { return [] }
        let rows = try connection.query(
            """
            WITH confirmed AS (
                SELECT * FROM unnest(
                    \(confirmed.map(\.transactionID.number)),
                    \(confirmed.map(\.target.rawValue)), \(confirmed.map(\.confirmedAt))
                ) AS confirmed (transaction_id, target, time)
            ), again AS (
                UPDATE deliveries SET next_attempt_at = NULL
                FROM confirmed
                WHERE deliveries.transaction_id = confirmed.transaction_id
                    AND deliveries.target = confirmed.target AND state = 'delivered'
            )
            UPDATE deliveries
            SET state = 'delivered', delivered_at = confirmed.time, last_result = 'SUCCESS',
                next_attempt_at = NULL
            FROM confirmed
            WHERE deliveries.transaction_id = confirmed.transaction_id
                AND deliveries.target = confirmed.target AND state = 'pending'
            RETURNING deliveries.transaction_id, deliveries.target
            """
        )
        let changed = Set(
            try rows.map { row in
                let (number, target) = try row.decode(Int64.self, String.self)
                return "\(number) \(target)"
            }
        )
        return confirmed.filter { changed.contains("\($0.transactionID.number) \($0.target)") }
    }

    /// Records tries that failed.
    ///
    /// A webhook that another sender has leased in the meantime is left to that sender.
    static func postpone(
        _ outcomes: [WebhookOutcome],
        on connection: isolated PostgresConnection
    ) throws {
        try connection.enqueue(
            """
            UPDATE deliveries
            SET next_attempt_at = failed.next_attempt_at,
                last_result = CASE state WHEN 'pending' THEN failed.result ELSE last_result END
            FROM unnest(
                \(outcomes.map(\.webhook.transactionID.number)),
                \(outcomes.map(\.webhook.target.rawValue)), \(outcomes.map { Int32($0.webhook.attempt) }),
                \(outcomes.map(\.result.rawValue)), \(outcomes.map(\.nextAttemptAt))
            ) AS failed (transaction_id, target, attempts, result, next_attempt_at)
            WHERE deliveries.transaction_id = failed.transaction_id
                AND deliveries.target = failed.target
                AND deliveries.attempts = failed.attempts AND state <> 'void'
            """
        )
    }

    /// Returns the transactions whose deliveries are all done but that are not marked as delivered.
    static func completed(
        among ids: Set<TransactionID>,
        on connection: isolated PostgresConnection
    ) throws -> [(
        id: TransactionID, queue: QueueKey, snapshot: TransactionSnapshot, contents: [UInt8]?,
        traceparent: TraceContext?
    )] {
        let rows = try connection.query(
            """
            SELECT transaction_id, account_id, bundle_id, transaction, contents, traceparent
            FROM queue_transactions
            WHERE transaction_id = ANY(\(ids.map(\.number))) AND NOT is_delivered
                AND state IN ('purchased', 'restored')
                AND NOT EXISTS (
                    SELECT 1 FROM deliveries
                    WHERE deliveries.transaction_id = queue_transactions.transaction_id
                        AND deliveries.state = 'pending'
                        AND deliveries.target NOT LIKE '%:refund:%'
                )
            ORDER BY transaction_id
            """
        )
        return try rows.map { row in
            let (number, accountID, bundleID, packed, contents, traceparent) = try row.decode(
                Int64.self,
                AccountID.self,
                BundleID.self,
                [UInt8].self,
                PostgresJSON?.self,
                StoredTrace?.self
            )
            return (
                TransactionID(number: number),
                QueueKey(accountID: accountID, bundleID: bundleID),
                try TransactionSnapshot(packed: packed),
                contents?.bytes,
                traceparent?.context
            )
        }
    }
}

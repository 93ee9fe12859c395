import EventTypes
import Postgres
import Subscriptions

/// The SQL that counts subscriptions.
struct SubscriptionCountStore: Sendable {
    let client: PostgresClient
    /// The number of those that run up to which they are counted; more of them are estimated.
    var exactMax: Int64 = 10_000

    /// Waits until the database has the table of subscriptions.
    func waitForSchema() async throws { try await client.waitForSchema() }

    /// Counts subscriptions.
    ///
    /// - Parameter time: The store's time.
    /// - Returns: The numbers.
    /// - Throws: `PostgresError`.
    func counts(at time: StoreTime) async throws -> SubscriptionCounts {
        try await client.withConnection { [exactMax] connection in
            try Self.counts(at: time, exactUpTo: exactMax, on: connection)
        }
    }

    /// Counts subscriptions from indexes alone.
    ///
    /// A running subscription always has a due action, so the index of due actions counts those that
    /// run. If there are many, their number is that of the last `ANALYZE`: reading the index from end to end
    /// each minute would be most of the work of an idle store.
    private static func counts(
        at time: StoreTime,
        exactUpTo exactMax: Int64,
        on connection: isolated PostgresConnection
    ) throws -> SubscriptionCounts {
        var counts = SubscriptionCounts()
        for row in try connection.query(
            """
            SELECT state, count(*) FROM subscriptions
            WHERE state IN ('inGracePeriod', 'inBillingRetryPeriod') GROUP BY state
            """
        ) {
            let (state, count) = try row.decode(String.self, Int64.self)
            counts.states[SubscriptionState(rawValue: state)] = count
        }
        let unpaid = counts.states.values.reduce(0, +)
        let soon = time.advanced(by: .seconds(3600))
        let rows = try connection.query(
            """
            WITH few AS MATERIALIZED (
                SELECT count(*) AS number FROM (
                    SELECT FROM subscriptions WHERE due_at IS NOT NULL LIMIT \(exactMax + 1)
                ) AS counted
            )
            SELECT (SELECT CASE WHEN number <= \(exactMax) THEN number
                    ELSE greatest(number, (
                        SELECT reltuples::bigint FROM pg_class
                        WHERE oid = 'subscriptions_due'::regclass)) END
                    FROM few),
                (SELECT count(*) FROM subscriptions
                    WHERE due_at <= \(soon) AND due_kind = \(Int32(DueAction.Kind.renewalCharge.rawValue))),
                (SELECT count(*) FROM subscriptions WHERE due_at < \(time)),
                (SELECT min(due_at) FROM subscriptions WHERE due_at < \(time))
            """
        )
        guard let row = rows.first else { return counts }
        let (running, due, late, oldest) = try row.decode(
            Int64.self,
            Int64.self,
            Int64.self,
            StoreTime?.self
        )
        counts.running = running
        counts.states[.active] = max(0, running - unpaid)
        counts.renewalsDue = due
        counts.late = late
        counts.oldestLate = oldest
        return counts
    }
}

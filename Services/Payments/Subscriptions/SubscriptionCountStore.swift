import EventTypes
import Postgres
import Subscriptions

/// The SQL that counts subscriptions.
struct SubscriptionCountStore: Sendable {
    let client: PostgresClient

    /// Waits until the database has the table of subscriptions.
    func waitForSchema() async throws { try await client.waitForSchema() }

    /// Counts subscriptions.
    ///
    /// - Parameters:
    ///   - time: The store's time.
    ///   - running: The number of those that run; `nil` to count them.
    /// - Returns: The numbers.
    /// - Throws: `PostgresError`.
    func counts(
        at time: StoreTime,
        knowing running: Int64? = nil
    ) async throws -> SubscriptionCounts {
        try await client.withConnection { connection in
            try Self.counts(at: time, knowing: running, on: connection)
        }
    }

    /// Counts subscriptions from indexes alone.
    ///
    /// A running subscription always has a due action, so the index of due actions counts those that
    /// run. It is read from end to end for that.
    private static func counts(
        at time: StoreTime,
        knowing known: Int64?,
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
            SELECT coalesce(\(known as Int64?),
                    (SELECT count(*) FROM subscriptions WHERE due_at IS NOT NULL)),
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

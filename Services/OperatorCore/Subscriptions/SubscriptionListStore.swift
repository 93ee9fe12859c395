package import EventTypes
package import Postgres

/// The SQL that lists subscriptions, page by page.
package enum SubscriptionListStore {
    /// The most rows that one page of a state without an index looks at.
    private static let lookedAtMax: Int64 = 10_000

    /// A page of subscriptions, the newest first.
    ///
    /// A page of a rare state may be short, or even empty, and still have a next one. It then has
    /// looked at ten thousand subscriptions of other states.
    package static func page(
        _ query: SubscriptionPageQuery,
        on connection: isolated PostgresConnection
    ) throws -> SubscriptionListing {
        try page(query, lookedAtMax: lookedAtMax, on: connection)
    }

    /// A page that looks at a number of subscriptions.
    static func page(
        _ query: SubscriptionPageQuery,
        lookedAtMax: Int64,
        on connection: isolated PostgresConnection
    ) throws -> SubscriptionListing {
        let before = query.before?.number ?? Int64.max
        let isBounded = try isBounded(query, lookedAtMax, on: connection)
        let ids = try ids(query, before, isBounded ? lookedAtMax : nil, on: connection)
        let shown = Array(ids.prefix(query.limit))
        var next = ids.count > shown.count ? shown.last : nil
        if next == nil, isBounded {
            next = try connection.query(
                """
                SELECT id FROM subscriptions WHERE id < \(before)
                ORDER BY id DESC LIMIT 1 OFFSET \(lookedAtMax - 1)
                """
            ).first?.decode(Int64.self)
        }
        return SubscriptionListing(
            subscriptions: try subscriptions(shown, on: connection),
            next: next.map(TransactionID.init(number:))
        )
    }

    /// Whether the page looks through subscriptions of other states.
    ///
    /// Those of a state with an index are sorted, unless there are too many of them. Then a look
    /// through all of them finds a page soon.
    private static func isBounded(
        _ query: SubscriptionPageQuery,
        _ lookedAtMax: Int64,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        guard query.account == nil, let state = query.state else { return false }
        guard unpaid.contains(state) else { return true }
        // The first condition is that of the index.
        let count = try connection.query(
            """
            SELECT count(*) FROM (
                SELECT FROM subscriptions
                WHERE state IN ('inGracePeriod', 'inBillingRetryPeriod')
                    AND state = \(state.rawValue) LIMIT \(lookedAtMax)
            ) AS unpaid
            """
        ).first?.decode(Int64.self)
        return count == lookedAtMax
    }

    /// The states that have an index.
    private static let unpaid: [SubscriptionState] = [.inGracePeriod, .inBillingRetryPeriod]

    /// The ids of a page, and one more if there is a next page.
    private static func ids(
        _ query: SubscriptionPageQuery,
        _ before: Int64,
        _ lookedAtMax: Int64?,
        on connection: isolated PostgresConnection
    ) throws -> [Int64] {
        let limit = Int64(query.limit + 1)
        // An empty name stands for every state.
        let state = query.state?.rawValue ?? ""
        let sql: SQL
        if let account = query.account {
            // The primary key begins with the account, and nobody has many subscriptions.
            sql = """
                SELECT id FROM subscriptions
                WHERE account_id = \(account) AND id < \(before)
                    AND (\(state) = '' OR state = \(state))
                ORDER BY id DESC LIMIT \(limit)
                """
        } else if query.state == nil {
            sql = """
                SELECT id FROM subscriptions WHERE id < \(before) ORDER BY id DESC LIMIT \(limit)
                """
        } else if let lookedAtMax {
            sql = """
                SELECT id FROM (
                    SELECT id, state FROM subscriptions WHERE id < \(before)
                    ORDER BY id DESC LIMIT \(lookedAtMax)
                ) AS looked
                WHERE state = \(state) ORDER BY id DESC LIMIT \(limit)
                """
        } else {
            // The first condition is that of the index.
            sql = """
                SELECT id FROM subscriptions
                WHERE state IN ('inGracePeriod', 'inBillingRetryPeriod') AND state = \(state)
                    AND id < \(before)
                ORDER BY id DESC LIMIT \(limit)
                """
        }
        return try connection.query(sql).map { try $0.decode(Int64.self) }
    }

    /// One subscription; `nil` if there is none.
    package static func subscription(
        _ id: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> ListedSubscription? {
        try subscriptions([id.number], on: connection).first
    }

    private static func subscriptions(
        _ ids: [Int64],
        on connection: isolated PostgresConnection
    ) throws -> [ListedSubscription] {
        guard !ids.isEmpty else { return [] }
        return try connection.query(
            "SELECT data, due_at FROM subscriptions WHERE id = ANY(\(ids)) ORDER BY id DESC"
        ).map { row in
            let (data, due) = try row.decode(PostgresJSON.self, StoreTime?.self)
            return ListedSubscription(
                subscription: try data.decode(Subscription.self),
                actionAt: due
            )
        }
    }
}

package import EventTypes
package import Postgres

/// The SQL that lists requests to extend all subscribers of a product, and counts those subscribers.
package enum MassExtensionListStore {
    /// The most subscriptions that a count looks at.
    package static let lookedAtMax: Int64 = 50_000
    private static let columns = """
        data, act, looked_at_id, last_id, (SELECT coalesce(min(id), 0) FROM subscriptions)
        """

    /// The newest requests about a product, the newest first.
    package static func newest(
        of product: ProductID,
        limit: Int = 50,
        on connection: isolated PostgresConnection
    ) throws -> [ListedMassExtension] {
        try listed(
            connection.query(
                """
                SELECT \(unsafe: columns) FROM mass_extensions
                WHERE product_id = \(product) ORDER BY number DESC LIMIT \(Int64(limit))
                """
            )
        )
    }

    /// One request about a product; `nil` if there is none.
    package static func request(
        _ number: Int64,
        of product: ProductID,
        on connection: isolated PostgresConnection
    ) throws -> ListedMassExtension? {
        try listed(
            connection.query(
                """
                SELECT \(unsafe: columns) FROM mass_extensions
                WHERE number = \(number) AND product_id = \(product)
                """
            )
        ).first
    }

    /// Counts the running subscriptions that a request would be about, among the newest ones.
    package static func subscribers(
        of product: ProductID,
        in bundle: BundleID,
        _ storefronts: [Storefront]?,
        on connection: isolated PostgresConnection
    ) throws -> BoundedCount {
        try subscribers(of: product, in: bundle, storefronts, lookedAtMax, on: connection)
    }

    /// Counts among a number of subscriptions.
    static func subscribers(
        of product: ProductID,
        in bundle: BundleID,
        _ storefronts: [Storefront]?,
        _ lookedAtMax: Int64,
        on connection: isolated PostgresConnection
    ) throws -> BoundedCount {
        let names = (storefronts ?? []).map(\.rawValue)
        let rows = try connection.query(
            """
            SELECT count(*) FILTER (
                    WHERE state IN ('active', 'inGracePeriod', 'inBillingRetryPeriod')
                        AND bundle_id = \(bundle)
                        AND data -> 'period' -> 'product' ->> 'id' = \(product)
                        AND (cardinality(\(names)) = 0 OR data ->> 'storefront' = ANY(\(names)))
                ), count(*)
            FROM (
                SELECT state, bundle_id, data FROM subscriptions
                WHERE id IS NOT NULL ORDER BY id DESC LIMIT \(lookedAtMax)
            ) AS looked
            """
        )
        guard let row = rows.first else { return BoundedCount(0) }
        let (found, lookedAt) = try row.decode(Int64.self, Int64.self)
        return BoundedCount(Int(found), isAtLeast: lookedAt == lookedAtMax)
    }

    private static func listed(_ rows: PostgresRows) throws -> [ListedMassExtension] {
        try rows.map { row in
            let (data, act, lookedAt, last, first) = try row.decode(
                PostgresJSON.self,
                PostgresJSON?.self,
                Int64.self,
                Int64.self,
                Int64.self
            )
            let request = try data.decode(MassExtension.self)
            let isDone = request.completedAt != nil
            return ListedMassExtension(
                request: request,
                act: try act?.decode(Act.self),
                share: isDone
                    ? 100 : ListedMassExtension.share(of: lookedAt, from: first, to: last)
            )
        }
    }
}

import EventTypes
import Foundation
import Messaging
import Postgres

/// The SQL of the projection of products, of which only subscriptions are kept.
enum SubscriptionProductStore {
    /// Writes products, unless newer versions of them are there.
    static func save(_ products: [Product], on connection: isolated PostgresConnection) throws {
        var newest: [ProductID: Product] = [:]
        for product in products where product.type == .autoRenewableSubscription {
            guard newest[product.id]?.version ?? 0 < product.version else { continue }
            newest[product.id] = product
        }
        guard !newest.isEmpty else { return }
        let rows = newest.values.sorted { $0.id < $1.id }
        try connection.enqueue(
            """
            INSERT INTO products AS known (id, version, data)
            SELECT * FROM unnest(
                \(rows.map(\.id)), \(rows.map { Int32($0.version) }),
                \(try rows.map { try encode($0) }))
            ON CONFLICT (id) DO UPDATE SET version = excluded.version, data = excluded.data
            WHERE known.version < excluded.version
            """
        )
    }

    /// Reads the products of the subscriptions that have ended, for their win-back offers.
    ///
    /// - Parameters:
    ///   - subscriptions: The subscriptions, each in its present state.
    ///   - connection: A connection to the database of `receipts`.
    /// - Returns: The offers of their products.
    /// - Throws: `PostgresError`; `DecodingError` if a product cannot be read.
    static func winBacks(
        of subscriptions: [Subscription],
        on connection: isolated PostgresConnection
    ) throws -> EligibleWinBacks {
        let ended = subscriptions.filter { $0.state == .expired }
        return EligibleWinBacks(of: try load(Set(ended.map(\.product.id)), on: connection))
    }

    /// Reads products at their newest versions.
    private static func load(
        _ ids: Set<ProductID>,
        on connection: isolated PostgresConnection
    ) throws -> [ProductID: Product] {
        guard !ids.isEmpty else { return [:] }
        let rows = try connection.query(
            "SELECT id, data FROM products WHERE id = ANY(\(ids.sorted()))"
        )
        var products: [ProductID: Product] = [:]
        for row in rows {
            let (id, data) = try row.decode(ProductID.self, PostgresJSON.self)
            products[id] = try JSONDecoder().decode(Product.self, from: Data(data.bytes))
        }
        return products
    }

    private static func encode(_ product: Product) throws -> PostgresJSON {
        PostgresJSON(bytes: Array(try JSONEncoder().encode(product)))
    }
}

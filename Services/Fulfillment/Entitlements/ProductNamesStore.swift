import EventTypes
import Foundation
import Messaging
import Postgres

/// The SQL of the projection of products, of which only the names of their entitlements are kept.
enum ProductNamesStore {
    /// Writes products, unless newer versions of them are there.
    static func save(
        _ products: [Product],
        on connection: isolated PostgresConnection
    ) throws {
        var newest: [ProductID: Product] = [:]
        for product in products where newest[product.id]?.version ?? 0 < product.version {
            newest[product.id] = product
        }
        guard !newest.isEmpty else { return }
        let rows = newest.values.sorted { $0.id < $1.id }
        try connection.enqueue(
            """
            INSERT INTO products AS known (id, version, entitlements)
            SELECT * FROM unnest(
                \(rows.map(\.id)), \(rows.map { Int32($0.version) }),
                \(try rows.map { try encode($0.entitlements) }))
            ON CONFLICT (id) DO UPDATE SET
                version = excluded.version, entitlements = excluded.entitlements
            WHERE known.version < excluded.version
            """
        )
    }

    /// Decodes the names of a row.
    static func decode(_ data: PostgresJSON) throws -> [EntitlementName] {
        try JSONDecoder().decode([EntitlementName].self, from: Data(data.bytes))
    }

    private static func encode(_ names: [EntitlementName]) throws -> PostgresJSON {
        PostgresJSON(bytes: Array(try JSONEncoder().encode(names)))
    }
}

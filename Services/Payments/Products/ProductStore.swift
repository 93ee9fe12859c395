import EventTypes
import Foundation
import Messaging
import Postgres
import Synchronization

/// What `payments` knows of the catalog.
///
/// A product is decoded once for each of its versions and then remembered; whether the remembered
/// version is the newest is asked of the database in every batch, so no replica ever sells at a
/// price that another has seen change.
final class ProductStore: Sendable {
    private static let productsMax = 10_000
    private let remembered = Mutex<[ProductID: Product]>([:])

    /// The products at their newest versions: one statement, which carries only the data of those
    /// that changed since they were read last.
    func load(
        _ ids: Set<ProductID>,
        on connection: isolated PostgresConnection
    ) throws -> [ProductID: Product] {
        guard !ids.isEmpty else { return [:] }
        var known: [ProductID: Product] = [:]
        remembered.withLock { remembered in
            for id in ids { known[id] = remembered[id] }
        }
        let asked = Array(ids)
        let rows = try connection.query(
            """
            SELECT p.id, CASE WHEN p.version = known.version THEN NULL ELSE p.data END
            FROM unnest(\(asked), \(asked.map { Int32(known[$0]?.version ?? 0) }))
                AS known (id, version)
            JOIN products p USING (id)
            """
        )
        var changed: [Product] = []
        var products: [ProductID: Product] = [:]
        for row in rows {
            let (id, data) = try row.decode(ProductID.self, PostgresJSON?.self)
            if let data {
                let product = try JSONDecoder().decode(Product.self, from: Data(data.bytes))
                changed.append(product)
                known[id] = product
            }
            products[id] = known[id]
        }
        if !changed.isEmpty {
            remembered.withLock { remembered in
                if remembered.count + changed.count > Self.productsMax { remembered.removeAll() }
                for product in changed { remembered[product.id] = product }
            }
        }
        return products
    }

    /// Keeps products as they were published, each at its newest version, whatever the order they
    /// arrive in.
    static func store(
        _ published: [PublishedProduct],
        on connection: isolated PostgresConnection
    ) throws {
        var newest: [ProductID: PublishedProduct] = [:]
        for one in published
        where one.product.version > newest[one.product.id]?.product.version ?? 0 {
            newest[one.product.id] = one
        }
        guard !newest.isEmpty else { return }
        let ordered = newest.values.sorted { $0.product.id < $1.product.id }
        let products = ordered.map(\.product)
        let data = ordered.map { PostgresJSON(bytes: $0.bytes) }
        try connection.execute(
            """
            INSERT INTO products AS p (id, version, is_restorable, data)
            SELECT * FROM unnest(
                \(products.map(\.id)), \(products.map { Int32($0.version) }),
                \(products.map(\.isRestorable)), \(data))
            ON CONFLICT (id) DO UPDATE
                SET version = excluded.version, is_restorable = excluded.is_restorable,
                    data = excluded.data
                WHERE p.version < excluded.version
            """
        )
    }
}

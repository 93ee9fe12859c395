import EventTypes
import Foundation
import Messaging
import Postgres
import Synchronization

/// The projection of the catalog in `payments`.
///
/// Each version of a product is decoded once and then cached. Every batch asks the database whether
/// the cached versions are the newest, so no replica sells at a price that another one has seen
/// change.
final class ProductStore: Sendable {
    private static let productsMax = 10_000
    private let remembered = Mutex<[ProductID: Product]>([:])

    /// Reads products at their newest versions, with the prices that count at a time.
    ///
    /// One statement, which returns only the data of products that have changed since they were
    /// last read.
    func load(
        _ ids: Set<ProductID>,
        at time: StoreTime
    ) -> PostgresReading<[ProductID: Product]> {
        guard !ids.isEmpty else { return PostgresReading(known: [:]) }
        var known: [ProductID: Product] = [:]
        remembered.withLock { remembered in
            for id in ids { known[id] = remembered[id] }
        }
        let asked = Array(ids)
        return PostgresReading(
            """
            SELECT p.id, CASE WHEN p.version = known.version THEN NULL ELSE p.data END
            FROM unnest(\(asked), \(asked.map { Int32(known[$0]?.version ?? 0) }))
                AS known (id, version)
            JOIN products p USING (id)
            """
        ) { [self, known] rows in
            try products(in: rows, known: known).mapValues { $0.inForce(at: time) }
        }
    }

    /// Reads the products of the rows, those that have not changed from `known`.
    private func products(
        in rows: PostgresRows,
        known: [ProductID: Product]
    ) throws -> [ProductID: Product] {
        var known = known
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

    /// Reads products at their newest versions, in the order of their ids.
    ///
    /// - Parameters:
    ///   - id: The last product of the page before; `nil` for the first page.
    ///   - limit: The most products of a page.
    ///   - connection: A connection.
    /// - Returns: The products, with the prices that they were published with.
    /// - Throws: `PostgresError`, or an error of a row that cannot be read.
    static func page(
        after id: ProductID?,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [Product] {
        try connection.query(
            """
            SELECT data FROM products WHERE id > \(id?.rawValue ?? "")
            ORDER BY id LIMIT \(Int64(limit))
            """
        ).map { row in
            let data = try row.decode(PostgresJSON.self)
            return try JSONDecoder().decode(Product.self, from: Data(data.bytes))
        }
    }

    /// The products that families begin or cease to share with these versions.
    ///
    /// A product that was not known before has no purchase to share.
    static func switchingFamilySharing(
        _ published: [PublishedProduct],
        on connection: isolated PostgresConnection
    ) throws -> [ProductID] {
        guard !published.isEmpty else { return [] }
        let products = published.map(\.product)
        return try connection.query(
            """
            SELECT DISTINCT p.id FROM products p
            JOIN unnest(\(products.map(\.id)), \(products.map(\.isFamilyShareable)))
                AS changed (id, is_shareable) USING (id)
            WHERE coalesce((p.data->>'isFamilyShareable')::boolean, false) <> changed.is_shareable
            """
        ).map { try $0.decode(ProductID.self) }
    }

    /// Stores published products, each at its newest version, in whatever order they arrive.
    ///
    /// - Parameters:
    ///   - published: The products.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The newest version of each of them.
    /// - Throws: `PostgresError`.
    @discardableResult
    static func store(
        _ published: [PublishedProduct],
        on connection: isolated PostgresConnection
    ) throws -> [Product] {
        var newest: [ProductID: PublishedProduct] = [:]
        for one in published
        where one.product.version > newest[one.product.id]?.product.version ?? 0 {
            newest[one.product.id] = one
        }
        guard !newest.isEmpty else { return [] }
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
        return products
    }
}

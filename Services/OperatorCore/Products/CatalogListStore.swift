package import EventTypes
import Foundation
package import Postgres

/// The SQL that lists products, page by page.
package enum CatalogListStore {
    /// A page of products, in the order of their ids' bytes.
    ///
    /// - Parameters:
    ///   - id: The last product of the page before; empty for the first page.
    ///   - limit: The most products of the page.
    ///   - connection: A connection.
    /// - Returns: The products, and whether there are more.
    /// - Throws: `PostgresError`; `DecodingError` for a product that this version cannot read.
    package static func page(
        after id: String,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> (products: [Product], isCut: Bool) {
        let products = try connection.query(
            """
            SELECT product FROM products WHERE id COLLATE "C" > \(id)
            ORDER BY id COLLATE "C" LIMIT \(Int64(limit + 1))
            """
        ).map { try $0.decode(PostgresJSON.self).decode(Product.self) }
        return (Array(products.prefix(limit)), products.count > limit)
    }
}

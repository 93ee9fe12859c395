import EventTypes
import Foundation
import Messaging
import Postgres

/// The tables of products; those of subscription groups are in ``GroupStore``.
enum CatalogStore {
    /// The channel that is notified when a database transaction that changed products commits.
    ///
    /// The payload names the changed products (``ProductChanges``).
    static let channel = "catalog_products"

    /// The key of the advisory lock that all writers of the catalog take: "catalog" in ASCII.
    private static let writersLock: Int64 = 0x63_6174_616C_6F67

    /// Waits until no other database transaction changes products.
    ///
    /// There are few writers. One at a time, they cannot overwrite each other's versions or
    /// deadlock.
    static func lockWriters(on connection: isolated PostgresConnection) throws(PostgresError) {
        try connection.execute("SELECT pg_advisory_xact_lock(\(writersLock))")
    }

    /// Reads products, in no particular order; those that do not exist are absent.
    static func products(
        _ ids: [ProductID],
        on connection: isolated PostgresConnection
    ) throws -> [Product] {
        try documents(
            "SELECT product FROM products WHERE id = ANY(\(ids))",
            named: "product",
            on: connection
        )
    }

    /// Reads all products.
    static func allProducts(on connection: isolated PostgresConnection) throws -> [Product] {
        try documents("SELECT product FROM products", named: "product", on: connection)
    }

    /// Reads the version of the whole catalog: the sum of the versions of all products and groups.
    static func version(on connection: isolated PostgresConnection) throws -> Int {
        try connection.query(
            """
            SELECT coalesce(sum(version), 0)::bigint FROM (
                SELECT version FROM products UNION ALL SELECT version FROM subscription_groups
            ) AS versions
            """
        ).first?.decode(Int.self) ?? 0
    }

    /// Writes products at their new versions, each with its entry in the history, and notifies.
    ///
    /// - Precondition: The database transaction holds the writers' lock, and each version is one
    ///   above the current version.
    static func write(
        _ products: [Product],
        by administrator: String,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let ids = products.map(\.id)
        let versions = products.map(\.version)
        let documents = try products.map { PostgresJSON(bytes: Array(try encoder.encode($0))) }
        let written = try connection.execute(
            """
            INSERT INTO products (id, version, type, is_on_sale, product, changed_by, changed_at)
            SELECT id, version, type, is_on_sale, product, \(administrator), \(time)
            FROM unnest(
                \(ids), \(versions), \(products.map(\.type.rawValue)), \(products.map(\.isOnSale)),
                \(documents)
            ) AS changed (id, version, type, is_on_sale, product)
            ON CONFLICT (id) DO UPDATE SET
                version = EXCLUDED.version, is_on_sale = EXCLUDED.is_on_sale,
                product = EXCLUDED.product, changed_by = EXCLUDED.changed_by,
                changed_at = EXCLUDED.changed_at
            WHERE products.version = EXCLUDED.version - 1
            """
        )
        guard written == products.count else {
            throw CatalogError(.lostUpdate, "A product changed while it was being changed.")
        }
        try connection.execute(
            """
            INSERT INTO product_versions (product_id, version, product, changed_by, changed_at)
            SELECT id, version, product, \(administrator), \(time)
            FROM unnest(\(ids), \(versions), \(documents)) AS changed (id, version, product)
            """
        )
        let changes = ProductChanges(products)
        try connection.execute("SELECT pg_notify(\(channel), \(changes.payload))")
    }

    /// Reads stored JSON documents.
    ///
    /// - Parameters:
    ///   - sql: A query with one column, the documents.
    ///   - what: A word for one of them, for the error.
    ///   - connection: A connection.
    /// - Returns: The documents, in the order of the rows.
    /// - Throws: ``CatalogError`` with the code `unreadableProduct`; `PostgresError`.
    static func documents<Document: Decodable>(
        _ sql: SQL,
        named what: String,
        on connection: isolated PostgresConnection
    ) throws -> [Document] {
        let decoder = JSONDecoder()
        return try connection.query(sql).map { row in
            let document = try row.decode(PostgresJSON.self)
            do {
                return try decoder.decode(Document.self, from: Data(document.bytes))
            } catch let error as DecodingError {
                throw CatalogError(.unreadableProduct, "A stored \(what) cannot be read: \(error)")
            }
        }
    }
}

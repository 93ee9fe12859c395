import EventTypes
import Postgres
import StoreAPI

/// The SQL of the contents hosted for products.
enum HostedContentStore {
    /// The result of recording a version.
    enum Recording: Hashable, Sendable {
        /// It was recorded now.
        case new(HostedContentVersion)
        /// It was already recorded with the same bytes.
        ///
        /// If it was withdrawn, it is offered again.
        case known(HostedContentVersion)
        /// It is recorded with other bytes.
        case taken
    }

    /// Returns the content that new purchases of each product get: the newest version that is not
    /// withdrawn.
    static func offered(
        of products: Set<ProductID>
    ) -> PostgresReading<[ProductID: HostedContent]> {
        guard !products.isEmpty else { return PostgresReading(known: [:]) }
        return PostgresReading(
            """
            SELECT DISTINCT ON (product_id) product_id, content_version, length, sha256
            FROM hosted_contents
            WHERE product_id = ANY(\(Array(products))) AND withdrawn_at IS NULL
            ORDER BY product_id, created_at DESC, content_version DESC
            """
        ) { rows in
            var contents: [ProductID: HostedContent] = [:]
            for row in rows {
                let (productID, version, length, sha256) = try row.decode(
                    ProductID.self,
                    ContentVersion.self,
                    Int64.self,
                    ContentDigest.self
                )
                contents[productID] = HostedContent(
                    contentIdentifier: productID,
                    version: version,
                    length: length,
                    sha256: sha256
                )
            }
            return contents
        }
    }

    /// Records a version whose bytes are stored.
    static func record(
        _ content: HostedContent,
        now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Recording {
        let rows = try connection.query(
            """
            INSERT INTO hosted_contents (product_id, content_version, length, sha256, created_at)
            VALUES (
                \(content.contentIdentifier), \(content.version), \(content.length),
                \(content.sha256), \(now)
            )
            ON CONFLICT (product_id, content_version) DO UPDATE SET withdrawn_at = NULL
                WHERE hosted_contents.sha256 = excluded.sha256
            RETURNING content_version, length, sha256, created_at, withdrawn_at, xmax = 0
            """
        )
        guard let row = rows.first else { return .taken }
        let (version, length, sha256, createdAt, withdrawnAt, isNew) = try row.decode(
            ContentVersion.self,
            Int64.self,
            ContentDigest.self,
            StoreTime.self,
            StoreTime?.self,
            Bool.self
        )
        let recorded = HostedContentVersion(
            version: version,
            length: length,
            sha256: sha256,
            createdAt: createdAt,
            withdrawnAt: withdrawnAt
        )
        return isNew ? .new(recorded) : .known(recorded)
    }

    /// Whether the version is recorded with other bytes.
    static func isTaken(
        _ content: HostedContent,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        let rows = try connection.query(
            """
            SELECT 1 FROM hosted_contents
            WHERE product_id = \(content.contentIdentifier)
                AND content_version = \(content.version) AND sha256 <> \(content.sha256)
            """
        )
        return !rows.isEmpty
    }

    /// Returns the versions of a product's content, the newest first.
    static func versions(
        of productID: ProductID,
        on connection: isolated PostgresConnection
    ) throws -> [HostedContentVersion] {
        let rows = try connection.query(
            """
            SELECT content_version, length, sha256, created_at, withdrawn_at
            FROM hosted_contents WHERE product_id = \(productID)
            ORDER BY created_at DESC, content_version DESC
            """
        )
        return try rows.map(version(in:))
    }

    /// Withdraws a version from new purchases.
    ///
    /// - Returns: The version, with the time of its first withdrawal, or `nil` if it does not
    ///   exist.
    static func withdraw(
        _ version: ContentVersion,
        of productID: ProductID,
        now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> HostedContentVersion? {
        let rows = try connection.query(
            """
            UPDATE hosted_contents SET withdrawn_at = coalesce(withdrawn_at, \(now))
            WHERE product_id = \(productID) AND content_version = \(version)
            RETURNING content_version, length, sha256, created_at, withdrawn_at
            """
        )
        return try rows.first.map(Self.version(in:))
    }

    /// Whether any version has these bytes.
    static func isKnown(
        _ digest: ContentDigest,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        let rows = try connection.query(
            "SELECT 1 FROM hosted_contents WHERE sha256 = \(digest) LIMIT 1"
        )
        return !rows.isEmpty
    }

    private static func version(in row: PostgresRow) throws -> HostedContentVersion {
        let (version, length, sha256, createdAt, withdrawnAt) = try row.decode(
            ContentVersion.self,
            Int64.self,
            ContentDigest.self,
            StoreTime.self,
            StoreTime?.self
        )
        return HostedContentVersion(
            version: version,
            length: length,
            sha256: sha256,
            createdAt: createdAt,
            withdrawnAt: withdrawnAt
        )
    }
}

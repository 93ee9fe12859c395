import EventTypes
import Postgres

/// The SQL of bytes that are kept and not on record yet.
///
/// Keeping bytes and recording them cannot be one step, and neither can be forgetting and removing
/// them. So an upload says first which digest it is about to keep (``begin(_:until:on:)``), and
/// renews that word for as long as keeping takes (``renew(_:of:until:on:)``), and records the digest
/// only if it still stands (``stands(_:of:on:)``). Who removes what a failed upload left takes that
/// word back first (``takeOver(at:until:on:)``), and none can be given until the bytes are gone
/// (``end(_:of:on:)``).
enum ContentUploadStore {
    /// Bytes that are to be removed.
    struct Leftover: Hashable, Sendable {
        let digest: ContentDigest
        let number: Int64
    }

    /// Says that bytes are about to be kept.
    ///
    /// - Returns: The number of the word; `nil` while the bytes are being removed.
    static func begin(
        _ digest: ContentDigest,
        until leaseEnd: Timestamp,
        on connection: isolated PostgresConnection
    ) throws -> Int64? {
        try connection.query(
            """
            INSERT INTO content_uploads (sha256, lease_ends_at) VALUES (\(digest), \(leaseEnd))
            ON CONFLICT (sha256) DO UPDATE
                SET lease_ends_at = greatest(content_uploads.lease_ends_at, excluded.lease_ends_at)
                WHERE NOT content_uploads.is_removing
            RETURNING number
            """
        ).first?.decode(Int64.self)
    }

    /// What became of a word that was to be renewed.
    enum Renewal: Hashable, Sendable {
        case renewed
        /// The bytes are on record, by another upload of them.
        case recorded
        /// They are being removed, or were.
        case lost
    }

    /// Lets a word stand for longer.
    static func renew(
        _ number: Int64,
        of digest: ContentDigest,
        until leaseEnd: Timestamp,
        on connection: isolated PostgresConnection
    ) throws -> Renewal {
        let rows = try connection.query(
            """
            UPDATE content_uploads SET lease_ends_at = greatest(lease_ends_at, \(leaseEnd))
            WHERE sha256 = \(digest) AND number = \(number) AND NOT is_removing
            RETURNING number
            """
        )
        if !rows.isEmpty { return .renewed }
        return try HostedContentStore.isKnown(digest, on: connection) ? .recorded : .lost
    }

    /// Whether bytes that were kept after a ``begin(_:until:on:)`` are still there; they stay until
    /// the end of the database transaction.
    static func stands(
        _ number: Int64,
        of digest: ContentDigest,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        let rows = try connection.query(
            """
            SELECT 1 FROM content_uploads
            WHERE sha256 = \(digest) AND number = \(number) AND NOT is_removing
            FOR UPDATE
            """
        )
        if !rows.isEmpty { return true }
        // Another upload of the same bytes has recorded them; what is on record is never removed.
        return try HostedContentStore.isKnown(digest, on: connection)
    }

    /// Takes over what one upload left whose time has run out, until others may take it over in
    /// turn; forgets those that are on record.
    ///
    /// One, so that it is removed long before that.
    static func takeOver(
        at now: Timestamp,
        until leaseEnd: Timestamp,
        on connection: isolated PostgresConnection
    ) throws -> Leftover? {
        try connection.execute(
            """
            DELETE FROM content_uploads WHERE lease_ends_at < \(now) AND NOT is_removing
                AND EXISTS (SELECT 1 FROM hosted_contents
                    WHERE hosted_contents.sha256 = content_uploads.sha256)
            """
        )
        return try connection.query(
            """
            UPDATE content_uploads SET is_removing = true, lease_ends_at = \(leaseEnd)
            WHERE sha256 = (
                SELECT sha256 FROM content_uploads
                WHERE lease_ends_at < \(now)
                    AND NOT EXISTS (SELECT 1 FROM hosted_contents
                        WHERE hosted_contents.sha256 = content_uploads.sha256)
                ORDER BY lease_ends_at LIMIT 1 FOR UPDATE SKIP LOCKED
            )
            RETURNING sha256, number
            """
        ).first.map { row in
            let (digest, number) = try row.decode(ContentDigest.self, Int64.self)
            return Leftover(digest: digest, number: number)
        }
    }

    /// Nothing more is to be said of bytes: they are on record, or gone.
    static func end(
        _ number: Int64,
        of digest: ContentDigest,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            "DELETE FROM content_uploads WHERE sha256 = \(digest) AND number = \(number)"
        )
    }
}

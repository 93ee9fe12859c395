import EventTypes
import Postgres

/// The SQL of uploads whose bytes are stored but not recorded yet.
///
/// Storing bytes and recording them cannot be one step, nor can deleting the record and removing
/// the bytes. So each upload has a row with a lease:
///
/// - Before it stores bytes, an upload inserts the row with their digest (``begin(_:until:on:)``).
/// - While it stores them, it renews the lease (``renew(_:of:until:on:)``).
/// - It records the digest only if the row still exists (``exists(_:of:on:)``).
/// - A cleaner marks the row of a failed upload before it removes the bytes
///   (``takeOver(at:until:on:)``). No upload can begin with the same digest until they are gone
///   (``end(_:of:on:)``).
enum ContentUploadStore {
    /// Bytes that are to be removed.
    struct Leftover: Hashable, Sendable {
        let digest: ContentDigest
        let number: Int64
    }

    /// Inserts the row of bytes that are about to be stored.
    ///
    /// - Returns: The number of the row, or `nil` while the bytes are being removed.
    static func begin(
        _ digest: ContentDigest,
        until leaseEnd: MachineTime,
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

    /// The result of renewing a lease.
    enum Renewal: Hashable, Sendable {
        case renewed
        /// The bytes were recorded by another upload of them.
        case recorded
        /// The bytes are being removed, or already have been.
        case lost
    }

    /// Extends the lease of an upload.
    static func renew(
        _ number: Int64,
        of digest: ContentDigest,
        until leaseEnd: MachineTime,
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

    /// Whether bytes that were stored after ``begin(_:until:on:)`` still exist.
    ///
    /// If so, they stay until the end of the database transaction.
    static func exists(
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
        // Another upload of the same bytes has recorded them, and recorded bytes are never removed.
        return try HostedContentStore.isKnown(digest, on: connection)
    }

    /// Leases the bytes of one upload whose own lease has expired, so that they can be removed.
    ///
    /// It also deletes the expired rows of bytes that are recorded.
    ///
    /// It takes only one, so that the removal ends long before the new lease does.
    static func takeOver(
        at now: MachineTime,
        until leaseEnd: MachineTime,
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

    /// Deletes the row of bytes that are recorded or removed.
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

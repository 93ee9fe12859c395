import EventTypes
import Postgres

/// The SQL that keeps the log of notifications in bounds.
enum NotificationLogStore {
    /// Notes how far the log has come.
    static func mark(at now: Timestamp, on connection: isolated PostgresConnection) throws {
        try connection.execute(
            """
            INSERT INTO notification_marks (at, settled_before, begun_before)
            SELECT \(now), pg_snapshot_xmin(now), pg_snapshot_xmax(now)
            FROM pg_current_snapshot() AS now
            ON CONFLICT (at) DO NOTHING
            """
        )
    }

    /// Deletes notifications that were signed before a moment, with their tries.
    ///
    /// It looks at the oldest of the log only, which are first on the disk, too.
    ///
    /// - Parameters:
    ///   - moment: What was signed before it goes.
    ///   - limit: The most notifications.
    ///   - connection: A connection.
    /// - Returns: How many there were; fewer than `limit` if none is left.
    /// - Throws: `PostgresError`.
    static func delete(
        before moment: Timestamp,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> Int {
        let rows = try connection.query(
            """
            WITH oldest AS MATERIALIZED (
                SELECT position, id, signed_at FROM notifications
                ORDER BY position LIMIT \(Int64(limit))
            ), tries AS (
                DELETE FROM notification_attempts USING oldest
                WHERE notification_id = oldest.id AND signed_at < \(moment)
            )
            DELETE FROM notifications USING oldest
            WHERE notifications.position = oldest.position AND oldest.signed_at < \(moment)
            RETURNING 1
            """
        )
        return rows.count
    }

    /// Deletes marks of before a moment, but the newest of them, by which the first hour is found.
    static func deleteMarks(
        before moment: Timestamp,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            DELETE FROM notification_marks WHERE at < (
                SELECT max(at) FROM notification_marks WHERE at < \(moment)
            )
            """
        )
    }
}

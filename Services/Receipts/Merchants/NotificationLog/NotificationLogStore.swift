import EventTypes
import Postgres

/// The SQL that limits the log of notifications.
enum NotificationLogStore {
    /// Records which database transactions have ended and begun at a time.
    static func mark(at now: StoreTime, on connection: isolated PostgresConnection) throws {
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
    /// It looks only at the oldest rows of the log, which are also first on the disk.
    ///
    /// - Parameters:
    ///   - moment: The time before which notifications are deleted.
    ///   - dueMoment: The time before which a pending one must have been due to be deleted.
    ///   - limit: The largest number of rows to look at.
    ///   - connection: A connection.
    /// - Returns: The number of deleted notifications. If it is less than `limit`, none is left.
    /// - Throws: `PostgresError`.
    static func delete(
        signedBefore moment: StoreTime,
        dueBefore dueMoment: MachineTime,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> Int {
        let rows = try connection.query(
            """
            WITH oldest AS MATERIALIZED (
                SELECT position, id, signed_at FROM notifications
                WHERE state <> 'pending' OR next_attempt_at < \(dueMoment)
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

    /// Deletes marks from before a moment, except the newest of them, which is needed for the first
    /// hour.
    static func deleteMarks(
        before moment: StoreTime,
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

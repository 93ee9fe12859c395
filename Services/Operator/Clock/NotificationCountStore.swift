import Postgres

/// The SQL that counts the notifications to merchants' servers.
enum NotificationCountStore {
    /// The position of the newest notification; 0 if there is none.
    static func newest(on connection: isolated PostgresConnection) throws -> Int64 {
        let rows = try connection.query("SELECT coalesce(max(position), 0) FROM notifications")
        return try rows.first?.decode(Int64.self) ?? 0
    }

    /// The number of notifications after a position, without those that somebody has asked for.
    static func count(
        after position: Int64,
        on connection: isolated PostgresConnection
    ) throws -> Int64 {
        let rows = try connection.query(
            "SELECT count(*) FROM notifications WHERE position > \(position) AND NOT is_asked_for"
        )
        return try rows.first?.decode(Int64.self) ?? 0
    }
}

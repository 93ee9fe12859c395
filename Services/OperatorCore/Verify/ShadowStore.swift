import Postgres

/// The databases in which the books are rebuilt: one for each service, dropped afterwards.
///
/// A proof holds a lock on the server from beginning to end. So two proofs cannot fill the same
/// database, and databases that a killed proof has left behind can be dropped safely.
enum ShadowStore {
    /// The key of the lock: "shadow" in ASCII.
    private static let lockKey: Int64 = 0x73_6861_646F_77

    /// Takes the lock until the session ends.
    ///
    /// - Returns: If the lock is taken, who holds it, from where and since when.
    static func lock(on connection: isolated PostgresConnection) throws -> String? {
        let taken = try connection.query("SELECT pg_try_advisory_lock(\(lockKey))")
        guard try taken.first?.decode(Bool.self) != true else { return nil }
        let holder = try connection.query(
            """
            SELECT concat_ws(' ', 'process', pid::text, 'of PostgreSQL, connected from',
                coalesce(host(client_addr), 'the same machine'), 'since',
                to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'))
            FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE locktype = 'advisory' AND granted
                AND ((classid::bigint << 32) | objid::bigint) = \(lockKey)
            LIMIT 1
            """
        )
        return try holder.first?.decode(String.self) ?? "a process that has just ended"
    }

    /// Creates an empty database, in place of an existing one of the same name.
    static func make(_ name: String, on connection: isolated PostgresConnection) throws {
        try drop(name, on: connection)
        // Like the services' own databases: keys are compared by their bytes.
        try connection.execute("CREATE DATABASE \(unsafe: name) TEMPLATE template0")
    }

    /// Drops a database, and ends the sessions that still use it.
    ///
    /// It uses `FORCE` only if necessary. `FORCE` fails if an autovacuum worker is in the database,
    /// because only a superuser may end one. Without `FORCE`, PostgreSQL ends such workers by
    /// itself.
    static func drop(_ name: String, on connection: isolated PostgresConnection) throws {
        guard try !dropUnused(name, on: connection) else { return }
        try connection.execute("DROP DATABASE IF EXISTS \(unsafe: name) WITH (FORCE)")
    }

    /// - Returns: Whether it was dropped; it is not if somebody is connected to it.
    private static func dropUnused(
        _ name: String,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        do {
            try connection.execute("DROP DATABASE IF EXISTS \(unsafe: name)")
            return true
        } catch {
            guard error.sqlState == objectInUse else { throw error }
            return false
        }
    }

    /// The SQLSTATE for a database that others are connected to.
    private static let objectInUse = "55006"
}

import Postgres

/// The databases that the books are made again in: one for each service, dropped afterwards.
///
/// Whoever uses them holds a lock of the server from beginning to end, so two proofs cannot fill one
/// database, and what a killed one has left is known to be nobody's.
enum ShadowStore {
    /// The lock of whoever makes shadows. ("shadow")
    private static let lockKey: Int64 = 0x73_6861_646F_77

    /// Takes the lock, for as long as the session lasts.
    ///
    /// - Returns: Who holds it, if it is taken: where they are connected from, and since when.
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

    /// Makes an empty database of a name, in the place of what is there.
    static func make(_ name: String, on connection: isolated PostgresConnection) throws {
        try drop(name, on: connection)
        // As the services' own: keys are compared by their bytes wherever they are read.
        try connection.execute("CREATE DATABASE \(unsafe: name) TEMPLATE template0")
    }

    /// Drops a database, and ends whoever is still in it.
    ///
    /// By force only if it must: `FORCE` gives up before a worker of autovacuum, which a role that is no
    /// superuser may not end, and without it PostgreSQL ends such workers by itself.
    static func drop(_ name: String, on connection: isolated PostgresConnection) throws {
        guard try !dropUnused(name, on: connection) else { return }
        try connection.execute("DROP DATABASE IF EXISTS \(unsafe: name) WITH (FORCE)")
    }

    /// - Returns: Whether it is gone; it is not if somebody is connected to it.
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

    /// Others are connected to the database.
    private static let objectInUse = "55006"
}

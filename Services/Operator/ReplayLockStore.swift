import EventTypes
import Foundation
import Postgres

/// One replay of a service's log at a time: an advisory lock of the service's database, which ends
/// with the session whatever ends that.
enum ReplayLockStore {
    /// "replay" in ASCII.
    private static let key: Int64 = 0x7265_706C_6179

    /// Runs a body while this process has the locks of databases.
    ///
    /// - Throws: ``OperatorError`` that says who has one of them; what the body throws.
    static func withLocks<R: Sendable>(
        _ addresses: ArraySlice<DatabaseAddress>,
        _ body: () async throws -> R
    ) async throws -> R {
        guard let address = addresses.first else { return try await body() }
        return try await DatabaseReader.withSession(address) { connection in
            let holder = try await connection.run { try acquire(on: $0) }
            if let holder {
                throw OperatorError(
                    .failed,
                    """
                    Another replay of \(address.service.rawValue) is under way: \(holder).
                    Wait for it, or end it; its journal says how it is resumed.
                    """
                )
            }
            return try await withLocks(addresses.dropFirst(), body)
        }
    }

    /// Takes the lock.
    ///
    /// - Returns: Who has it, if somebody does.
    private static func acquire(on connection: isolated PostgresConnection) throws -> String? {
        let name = "counterfoil replay, process \(getpid()) on \(ProcessInfo.processInfo.hostName)"
        _ = try connection.query(
            "SELECT set_config('application_name', \(String(name.prefix(63))), false)"
        )
        let granted = try connection.query("SELECT pg_try_advisory_lock(\(key))")
        if try granted.first?.decode(Bool.self) == true { return nil }
        let rows = try connection.query(
            """
            SELECT coalesce(nullif(activity.application_name, ''), 'a session of another role'),
                activity.pid, coalesce(host(activity.client_addr), 'the server''s own machine'),
                activity.backend_start
            FROM pg_locks AS locked JOIN pg_stat_activity AS activity USING (pid)
            WHERE locked.locktype = 'advisory' AND locked.granted
                AND locked.database = (
                    SELECT oid FROM pg_database WHERE datname = current_database()
                )
                AND (locked.classid::bigint << 32 | locked.objid::bigint) = \(key)
            """
        )
        guard let row = rows.first else { return "it ended just now; try again" }
        let (who, pid, host, since) = try row.decode(
            String.self,
            Int32.self,
            String.self,
            PostgresTimestamp.self
        )
        let time = Timestamp(millisecondsSinceEpoch: since.microsecondsSinceEpoch / 1000)
        return "\(who), server process \(pid), from \(host), since \(time)"
    }
}

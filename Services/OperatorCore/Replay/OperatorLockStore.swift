import EventTypes
import Foundation
import Postgres

/// An advisory lock in a service's database that allows one command of a kind at a time.
///
/// The lock ends with the session. A command that is suspended loses it within
/// `LockHolder.silenceMax`, and ends when it resumes.
package enum OperatorLockStore {
    /// A kind of work that is done by one command at a time.
    package struct Work: Sendable {
        /// The name of the work.
        let name: String
        /// The advice to an operator who meets another command at the same work.
        let advice: String
        /// The key of its lock: its name in ASCII.
        let key: Int64

        /// Sending a service's events again.
        package static let replay = Work(
            name: "replay",
            advice: "Wait until it ends, or stop it; it can be resumed from its journal.",
            key: 0x7265_706C_6179
        )
        /// Dropping months of a service's log.
        package static let archiving = Work(
            name: "log",
            advice: "Wait until it ends, or stop it; the work done by then stays.",
            key: 0x6C6F_67
        )
    }

    /// Runs a body while this process holds the locks of some databases.
    ///
    /// - Throws: ``OperatorError`` that says who holds one of them, or that one was lost; what the
    ///   body throws.
    package static func withLocks<R: Sendable>(
        _ addresses: ArraySlice<DatabaseAddress>,
        of work: Work = .replay,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        guard let address = addresses.first else { return try await body() }
        return try await DatabaseReader.withSession(address) { connection in
            let holder = try await connection.run { try acquire(work, on: $0) }
            if let holder {
                throw OperatorError(
                    .failed,
                    """
                    Another \(work.name) of \(address.service.rawValue) is under way: \(holder).
                    \(work.advice)
                    """
                )
            }
            return try await connection.keepingLocks {
                try await withLocks(addresses.dropFirst(), of: work, body)
            }
        }
    }

    /// Takes the lock.
    ///
    /// - Returns: The holder, if the lock is taken.
    private static func acquire(
        _ work: Work,
        on connection: isolated PostgresConnection
    ) throws -> String? {
        let key = work.key
        let name =
            "counterfoil \(work.name), process \(getpid()) on \(ProcessInfo.processInfo.hostName)"
        _ = try connection.query(
            "SELECT set_config('application_name', \(String(name.prefix(63))), false)"
        )
        let granted = try connection.query("SELECT pg_try_advisory_lock(\(key))")
        if try granted.first?.decode(Bool.self) == true { return nil }
        let rows = try connection.query(
            """
            SELECT coalesce(nullif(activity.application_name, ''), 'a session of another role'),
                activity.pid, coalesce(host(activity.client_addr),
                    CASE WHEN activity.backend_start IS NOT NULL
                        THEN 'the server''s own machine' END),
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
            String?.self,
            MachineTime?.self
        )
        // A session of another role shows neither its machine nor its time.
        let parts: [String?] = [
            "\(who), server process \(pid)", host.map { "from \($0)" },
            since.map { "since \($0)" },
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

import Foundation
import Postgres
import TestSupport

extension TestDatabase {
    /// Settings that connect through a proxy that can read the protocol.
    func settings(through proxy: PostgresProxy, poolSize: Int) -> PostgresSettings {
        var components = URLComponents(string: url) ?? URLComponents()
        components.port = proxy.port
        components.queryItems = [
            URLQueryItem(name: "sslmode", value: "disable"),
            URLQueryItem(name: "gssencmode", value: "disable"),
        ]
        return PostgresSettings(
            url: components.string ?? "",
            applicationName: "tests",
            poolSize: poolSize,
            acquireTimeout: PostgresCluster.patience
        )
    }

    /// Whether some session is running a statement.
    func isRunning(_ statement: String) async throws -> Bool {
        let name = name
        return try await cluster.asSuperuser { connection in
            let rows = try connection.query(
                """
                SELECT 1 FROM pg_stat_activity
                WHERE datname = \(name) AND query = \(statement) AND state = 'active'
                """
            )
            return !rows.isEmpty
        }
    }

    /// Cancels or terminates the sessions whose last statement was this one.
    ///
    /// - Returns: The number of these sessions.
    @discardableResult
    func signal(_ statement: String, by function: String) async throws -> Int {
        let name = name
        return try await cluster.asSuperuser { connection in
            try connection.query(
                """
                SELECT \(unsafe: function)(pid) FROM pg_stat_activity
                WHERE datname = \(name) AND query LIKE \(statement)
                """
            ).count
        }
    }

    /// The number of sessions whose last statement is like a pattern.
    func sessions(like pattern: String) async throws -> Int64 {
        let name = name
        return try await cluster.asSuperuser { connection in
            try connection.query(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = \(name) AND query LIKE \(pattern)
                """
            )[0].decode(Int64.self)
        }
    }
}

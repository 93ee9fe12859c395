import Foundation
import Postgres

extension PostgresCluster {
    /// The id of the server's main process, while it is running.
    public var processID: Int32? {
        // Without this file the server is not running.
        let note = try? String(contentsOfFile: directory + "/data/postmaster.pid", encoding: .utf8)
        return note.flatMap { $0.split(separator: "\n").first }.flatMap { Int32($0) }
    }

    /// Returns the directory, or a replacement that root's server user can reach.
    ///
    /// That user cannot enter a clone in root's home directory.
    static func reachable(_ directory: String) -> String {
        guard geteuid() == 0 else { return directory }
        let wanted = URL(fileURLWithPath: directory)
        var ancestor = wanted.deletingLastPathComponent()
        while ancestor.path != "/" {
            var status = stat()
            if stat(ancestor.path, &status) == 0, status.st_mode & 0o001 == 0 {
                let name = wanted.path.replacing("/", with: "-").suffix(60)
                return "/var/tmp/counterfoil\(name)"
            }
            ancestor.deleteLastPathComponent()
        }
        return directory
    }

    /// Returns the URL of a service's database for its role, optionally through a proxy.
    public func url(database: String, role: String, proxyPort: Int?) -> String {
        var components = URLComponents(string: url(database: database, role: role))
        if let proxyPort { components?.port = proxyPort }
        // A proxy reads the protocol, so the connection must not be encrypted.
        components?.queryItems = [
            URLQueryItem(name: "sslmode", value: "disable"),
            URLQueryItem(name: "gssencmode", value: "disable"),
        ]
        return components?.string ?? ""
    }

    /// Creates a database if it does not exist.
    ///
    /// Only its owner, one role, the operator, the reader and the archivist may connect to it. The reader
    /// may read every table, as in deploy/postgres/init.sql.
    ///
    /// - Parameters:
    ///   - name: The database.
    ///   - role: The role of its service.
    ///   - template: A database that was made by this function, to be copied if there is none yet.
    /// - Throws: An error of the server.
    func ensureDatabase(
        _ name: String,
        connectableBy role: String,
        copying template: String? = nil
    ) async throws {
        let exists = try await asSuperuser { connection in
            let rows = try connection.query("SELECT 1 FROM pg_database WHERE datname = \(name)")
            if rows.isEmpty {
                let template = template ?? "template1"
                try Self.createDatabase(name, copying: template, on: connection)
            }
            try connection.execute("REVOKE CONNECT ON DATABASE \"\(unsafe: name)\" FROM PUBLIC")
            try connection.execute(
                """
                GRANT CONNECT ON DATABASE "\(unsafe: name)"
                TO \(unsafe: role), \(unsafe: Self.operatorRole), \(unsafe: Self.readerRole),
                    \(unsafe: Self.archivistRole)
                """
            )
            return !rows.isEmpty
        }
        // A copy has the rights on tables of what it was copied from.
        guard exists || template == nil else { return }
        let owner = PostgresSettings(
            url: url(database: name, role: Self.owner),
            applicationName: "tests-owner",
            poolSize: 1
        )
        try await withRunningClient(owner) { client in
            try await client.withConnection { connection in
                let reader = Self.readerRole
                for right in ["USAGE ON SCHEMAS", "SELECT ON TABLES"] {
                    try connection.execute(
                        "ALTER DEFAULT PRIVILEGES GRANT \(unsafe: right) TO \(unsafe: reader)"
                    )
                }
                guard exists else { return }
                // A store that is older than the reader has tables already.
                let schemas = try connection.query(
                    """
                    SELECT DISTINCT schemaname::text FROM pg_tables
                    WHERE tableowner = current_user
                    """
                ).map { try $0.decode(String.self) }
                for schema in schemas {
                    for right in ["USAGE ON SCHEMA", "SELECT ON ALL TABLES IN SCHEMA"] {
                        try connection.execute(
                            "GRANT \(unsafe: right) \(unsafe: schema) TO \(unsafe: reader)"
                        )
                    }
                }
            }
        }
    }
}

import Foundation
import Postgres

extension PostgresCluster {
    /// The id of the server's first process, while it runs.
    public var processID: Int32? {
        // No such file: it does not run.
        let note = try? String(contentsOfFile: directory + "/data/postmaster.pid", encoding: .utf8)
        return note.flatMap { $0.split(separator: "\n").first }.flatMap { Int32($0) }
    }

    /// The directory, or one named after it where root's server user can get: the way into a clone
    /// in root's home is closed to that user.
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

    /// The URL of a service's database for its role, perhaps through a proxy.
    func url(database: String, role: String, proxyPort: Int?) -> String {
        var components = URLComponents(string: url(database: database, role: role))
        if let proxyPort { components?.port = proxyPort }
        // A proxy reads the protocol, so nothing may be encrypted.
        components?.queryItems = [
            URLQueryItem(name: "sslmode", value: "disable"),
            URLQueryItem(name: "gssencmode", value: "disable"),
        ]
        return components?.string ?? ""
    }

    /// Creates a database that only its owner, one role, the operator and the archivist may connect to,
    /// unless it is there.
    func ensureDatabase(_ name: String, connectableBy role: String) async throws {
        let exists = try await asSuperuser { connection in
            try !connection.query("SELECT 1 FROM pg_database WHERE datname = \(name)").isEmpty
        }
        if !exists { try await createDatabase(name) }
        try await asSuperuser { connection in
            try connection.execute("REVOKE CONNECT ON DATABASE \"\(unsafe: name)\" FROM PUBLIC")
            try connection.execute(
                """
                GRANT CONNECT ON DATABASE "\(unsafe: name)"
                TO \(unsafe: role), \(unsafe: Self.operatorRole), \(unsafe: Self.archivistRole)
                """
            )
        }
    }
}

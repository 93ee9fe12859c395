import Foundation
import Postgres

/// Migrated databases from which tests copy theirs, because a copy takes less time than all migrations.
///
/// A template belongs to one server of the harness, and is removed with it.
public actor TemplateDatabases {
    /// The templates of this process.
    public static let shared = TemplateDatabases()

    private var templates: [String: Task<String, any Error>] = [:]

    /// Returns the name of a template, which the first call with its key makes.
    ///
    /// - Parameters:
    ///   - key: Names what the template contains.
    ///   - cluster: The server.
    ///   - make: Creates and migrates the database of the given name. It leaves no connection open,
    ///     because PostgreSQL copies no database that is in use.
    /// - Returns: The name of the template.
    /// - Throws: The error of the call that made it.
    public func template(
        _ key: String,
        on cluster: PostgresCluster,
        make: @escaping @Sendable (String) async throws -> Void
    ) async throws -> String {
        let place = "\(cluster.port) \(key)"
        let made =
            templates[place]
            ?? Task {
                let name = "template_" + UUID().uuidString.prefix(8).lowercased()
                try await make(name)
                return name
            }
        templates[place] = made
        return try await made.value
    }
}

import Foundation
import Logging
public import Postgres

/// A database for one test, in the cluster that the tests share.
public struct TestDatabase: Sendable {
    /// The cluster of the database.
    public let cluster: PostgresCluster
    /// The database's name.
    public let name: String

    /// The connection URL of the role that owns the database.
    public var url: String { url(role: PostgresCluster.owner) }

    /// The connection URL of a role.
    public func url(role: String) -> String { cluster.url(database: name, role: role) }

    /// Runs a body with a client whose connection pool is open.
    ///
    /// - Parameters:
    ///   - role: The role to connect as. The default is the database's owner.
    ///   - poolSize: The number of connections.
    ///   - machineClock: The clock that the client uses as the machine's clock.
    ///   - body: Receives the client.
    /// - Returns: The result of the body.
    /// - Throws: An error of the body.
    public func withClient<R: Sendable>(
        role: String? = nil,
        poolSize: Int = 2,
        machineClock: @escaping @Sendable () -> PostgresTimestamp = PostgresClock.machine,
        _ body: (PostgresClient) async throws -> R
    ) async throws -> R {
        let settings = PostgresSettings(
            url: role.map { url(role: $0) } ?? url,
            applicationName: "tests",
            poolSize: poolSize,
            acquireTimeout: PostgresCluster.patience
        )
        return try await withRunningClient(settings, machineClock: machineClock, body)
    }
}

extension TestDatabase {
    /// Runs a body with a copy of the database as it is now, and drops the copy afterwards.
    ///
    /// Nobody may be connected to the database while it is copied.
    public func withCopy(_ body: (TestDatabase) async throws -> Void) async throws {
        let copy = TestDatabase(cluster: cluster, name: name + "_copy")
        try await cluster.createDatabase(copy.name, copying: name)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(copy))
        } catch {
            result = .failure(error)
        }
        // As with the database itself, a test that exceeded its time limit still cleans up.
        try await Task { try await cluster.dropDatabases([copy.name]) }.value
        try result.get()
    }
}

extension TestDatabase {
    /// Runs a body with a client of one connection, and the proxy that the connection goes through.
    public func withProxiedClient<R: Sendable>(
        role: String,
        _ body: (PostgresClient, PostgresProxy) async throws -> R
    ) async throws -> R {
        let proxy = try await PostgresProxy.start(inFrontOf: cluster.port)
        let url = cluster.url(database: name, role: role, proxyPort: proxy.port)
        let settings = PostgresSettings(
            url: url,
            applicationName: "tests",
            poolSize: 1,
            acquireTimeout: PostgresCluster.patience
        )
        let result = try await withRunningClient(settings) { try await body($0, proxy) }
        await proxy.cut()
        return result
    }
}

/// Runs a body with a new database, and drops the database afterwards, even if the body throws.
///
/// With a service's many migrations the database is a copy of one that was migrated before.
public func withTestDatabase<R>(
    migrations: [PostgresMigration] = [],
    _ body: (TestDatabase) async throws -> R
) async throws -> R {
    let cluster = try await PostgresCluster.shared()
    let name = "test_" + UUID().uuidString.prefix(13).lowercased().replacing("-", with: "_")
    let isCopied = migrations.count > 2 && cluster.isOwn
    if isCopied {
        try await cluster.createDatabase(name, copying: template(of: migrations, on: cluster))
    } else {
        try await cluster.createDatabase(name)
    }
    let database = TestDatabase(cluster: cluster, name: name)
    let result: Result<R, any Error>
    do {
        if !isCopied { try await migrate(database, migrations) }
        result = .success(try await body(database))
    } catch {
        result = .failure(error)
    }
    // This runs in a separate task, so that a test that exceeded its time limit still cleans up.
    try await Task { try await cluster.dropDatabases([name]) }.value
    return try result.get()
}

/// Returns the name of a database to which migrations were applied.
private func template(
    of migrations: [PostgresMigration],
    on cluster: PostgresCluster
) async throws -> String {
    var hasher = Hasher()
    for migration in migrations {
        hasher.combine(migration.name)
        hasher.combine(migration.sql)
    }
    return try await TemplateDatabases.shared.template("\(hasher.finalize())", on: cluster) {
        name in
        try await cluster.createDatabase(name)
        try await migrate(TestDatabase(cluster: cluster, name: name), migrations)
    }
}

private func migrate(_ database: TestDatabase, _ migrations: [PostgresMigration]) async throws {
    guard !migrations.isEmpty else { return }
    let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    _ = try await PostgresMigrator(url: database.url, migrations: migrations, logger: quiet)
        .migrate()
}

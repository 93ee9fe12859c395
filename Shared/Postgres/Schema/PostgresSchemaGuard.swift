public import Logging
public import ServiceLifecycle
import Synchronization

/// Keeps a service from being ready before its database has the required schema.
///
/// It ends the service if the schema belongs to another version of the program.
public final class PostgresSchemaGuard: Service {
    private let client: PostgresClient
    private let migrator: PostgresMigrator
    private let logger: Logger
    private let current = Atomic(false)

    /// Makes a guard.
    ///
    /// It does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - client: The service's database.
    ///   - migrations: Every migration the service knows, in order.
    ///   - logger: Receives the names of missing migrations.
    public init(client: PostgresClient, migrations: [PostgresMigration], logger: Logger) {
        self.client = client
        // The migrator only compares, and does so through the client's connections.
        migrator = PostgresMigrator(url: "", migrations: migrations, logger: logger)
        self.logger = logger
        client.awaitsSchema.store(true, ordering: .relaxed)
    }

    /// Whether the database was seen to have the required schema.
    public var isCurrent: Bool { current.load(ordering: .relaxed) }

    /// Waits for the schema, and then for the shutdown of the service.
    ///
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/databaseIsNewer`` or
    ///   ``PostgresError/Code/migrationChanged``: this program must not run on that database.
    public func run() async throws {
        var isSilent = false
        while !isCurrent && !Task.isCancelled && !Task.isShuttingDownGracefully {
            do {
                let state = try await client.withConnection { [migrator] connection in
                    try migrator.state(on: connection)
                }
                switch state {
                case .current:
                    current.store(true, ordering: .relaxed)
                    client.awaitsSchema.store(false, ordering: .relaxed)
                    continue
                case .newer(let names):
                    throw PostgresError(
                        .databaseIsNewer,
                        "the database has migrations that this version does not know ("
                            + names.joined(separator: ", ") + "); run the newer version"
                    )
                case .pending(let names):
                    if !isSilent {
                        logger.warning(
                            "The database is not migrated yet; run this program with 'migrate'",
                            metadata: ["migrations": "\(names.joined(separator: ", "))"]
                        )
                    }
                    isSilent = true
                }
            } catch let error as PostgresError
                where error.code == .databaseIsNewer || error.code == .migrationChanged
            {
                throw error
            } catch {
                // The client itself logs that the database is unreachable.
                logger.debug("The schema cannot be looked at yet", metadata: ["error": "\(error)"])
            }
            // If cancelled, the loop ends.
            try? await Task.sleep(for: .milliseconds(100))
        }
        try? await gracefulShutdown()  // A cancellation ends it too.
    }
}

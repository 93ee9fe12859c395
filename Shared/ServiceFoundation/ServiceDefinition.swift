public import EventTypes
public import Logging
public import Postgres
public import Rebuild
public import ServiceKit

/// The definition of a service: its name, topics and migrations, and how its tables are rebuilt
/// from the event log.
public struct ServiceDefinition: Sendable {
    /// The service.
    public let name: ServiceName
    /// The topics that it publishes to.
    let topics: [Topic]
    /// All migrations of its database, in order.
    let migrations: [PostgresMigration]
    /// Whether its statements read rows by key; see `PostgresSettings`.
    let prefersIndexes: Bool
    private let rebuilder: any Rebuilder
    /// Its commands besides `serve`, `migrate`, `rebuild` and `settings`.
    let commands: [ServiceCommand]

    /// Defines a service.
    ///
    /// - Parameters:
    ///   - name: The service.
    ///   - topics: The topics that it publishes to.
    ///   - migrations: All migrations of its database, in order.
    ///   - prefersIndexes: Whether its statements read rows by key; see `PostgresSettings`.
    ///   - rebuilder: Rebuilds its tables from the event log.
    ///   - commands: Its commands besides `serve`, `migrate`, `rebuild` and `settings`.
    public init(
        _ name: ServiceName,
        publishes topics: [Topic],
        migrations: [PostgresMigration],
        prefersIndexes: Bool = true,
        rebuilder: any Rebuilder,
        commands: [ServiceCommand] = []
    ) {
        self.name = name
        self.topics = topics
        self.migrations = migrations
        self.prefersIndexes = prefersIndexes
        self.rebuilder = rebuilder
        self.commands = commands
    }

    /// The other services whose logs the tables depend on.
    private var logs: [ServiceName] {
        rebuilder.sources.filter { $0.consumer != nil }.map(\.service)
    }

    /// Reads the settings of `<service> migrate`, and returns the work of migrating the database as
    /// its owner.
    @Sendable
    public func migrate(
        _ reader: inout SettingsReader,
        _ logger: Logger
    ) throws -> @Sendable () async throws -> Void {
        let settings = MigrationSettings(&reader)
        try reader.check()
        let migrator = PostgresMigrator(
            url: settings.databaseURL,
            migrations: migrations,
            logger: logger
        )
        return {
            let count = try await migrator.migrate()
            logger.info("migrated", metadata: ["migrations": "\(count)"])
        }
    }

    /// Reads the settings of `<service> rebuild`, and returns its work.
    ///
    /// The work rebuilds the tables from the event log in a separate database, and compares them
    /// with the live tables.
    @Sendable
    public func rebuild(
        _ reader: inout SettingsReader,
        _ logger: Logger
    ) throws -> @Sendable () async throws -> Void {
        let settings = RebuildSettings(&reader, logsOf: logs)
        try reader.check()
        let run = RebuildRun(
            rebuilder,
            migrations: migrations,
            databases: RebuildRun.Databases(
                live: settings.databaseURL,
                shadow: settings.shadowDatabaseURL,
                logs: Dictionary(
                    uniqueKeysWithValues: settings.logURLs.map { ($0.key.rawValue, $0.value) }
                ),
                archives: settings.archivesDirectory
            ),
            logger: logger,
            tell: RebuildLine.write
        )
        return { try await run.run() }
    }
}

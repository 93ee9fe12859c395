public import EventTypes
public import Logging
public import Postgres
public import Rebuild
public import ServiceKit

/// What distinguishes one service from the others before any of it is made: its name, what it
/// publishes, its tables, and how they are made again from the event log.
public struct ServiceDefinition: Sendable {
    /// The service.
    public let name: ServiceName
    /// The topics that it writes.
    let topics: [Topic]
    /// Every migration of its database, in order.
    let migrations: [PostgresMigration]
    /// Whether its statements read rows by key; see `PostgresSettings`.
    let prefersIndexes: Bool
    private let rebuilder: any Rebuilder

    /// Defines a service.
    ///
    /// - Parameters:
    ///   - name: The service.
    ///   - topics: The topics that it writes.
    ///   - migrations: Every migration of its database, in order.
    ///   - prefersIndexes: Whether its statements read rows by key; see `PostgresSettings`.
    ///   - rebuilder: Makes its tables again from the event log.
    public init(
        _ name: ServiceName,
        publishes topics: [Topic],
        migrations: [PostgresMigration],
        prefersIndexes: Bool = true,
        rebuilder: any Rebuilder
    ) {
        self.name = name
        self.topics = topics
        self.migrations = migrations
        self.prefersIndexes = prefersIndexes
        self.rebuilder = rebuilder
    }

    /// The services whose logs the tables depend on, beside the service's own.
    private var logs: [ServiceName] {
        rebuilder.sources.filter { $0.consumer != nil }.compactMap {
            ServiceName(rawValue: $0.service)
        }
    }

    /// Reads the settings of `<service> migrate` and returns its work: it brings the database up to
    /// date, as its owner.
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

    /// Reads the settings of `<service> rebuild` and returns its work: it makes the tables again
    /// from the event log, in a database of their own, and compares them with the live ones.
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

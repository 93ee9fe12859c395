import EventArchive
import EventTypes
public import Logging
import Messaging
public import Postgres
import Seals

/// Rebuilds a service's tables from the event log in a separate database, and compares them with
/// the live tables.
///
/// The live database is read in one snapshot, so the service's own log and its tables are of the
/// same moment, even under traffic. Events of another service's log count only if the consumer
/// has applied them by the places of the same snapshot. The memory that a rebuild needs does not
/// depend on the length of the log.
public struct RebuildRun: Sendable {
    /// The databases and the folder that a rebuild uses.
    public struct Databases: Sendable {
        /// The live database, as a role that may read it.
        public var live: String
        /// An empty database that the rebuild owns.
        public var shadow: String
        /// The databases that hold the logs of other services, by the services' names.
        public var logs: [String: String]
        /// The folder of the archived months of the logs; `nil` if there is none.
        public var archives: String?

        /// Gathers connection URLs, and the folder of the archives.
        public init(live: String, shadow: String, logs: [String: String], archives: String? = nil) {
            self.live = live
            self.shadow = shadow
            self.logs = logs
            self.archives = archives
        }
    }

    /// The maximum number of events that are applied in one database transaction.
    private static let batchSize = 5000
    /// The maximum number of contradictions, and of differences in each table, that are reported
    /// one by one.
    private static let toldMax = 1000

    private let rebuilder: any Rebuilder
    private let migrations: [PostgresMigration]
    private let databases: Databases
    private let logger: Logger
    private let tell: @Sendable (RebuildLine) -> Void

    /// Prepares a rebuild without connecting.
    ///
    /// - Parameters:
    ///   - rebuilder: Applies the service's events and names its tables.
    ///   - migrations: The service's migrations, which make the tables.
    ///   - databases: The databases and the folder to use.
    ///   - logger: The log for the migrations of the shadow.
    ///   - tell: Called with each progress line and finding.
    public init(
        _ rebuilder: any Rebuilder,
        migrations: [PostgresMigration],
        databases: Databases,
        logger: Logger,
        tell: @escaping @Sendable (RebuildLine) -> Void
    ) {
        self.rebuilder = rebuilder
        self.migrations = migrations
        self.databases = databases
        self.logger = logger
        self.tell = tell
    }

    /// Rebuilds and compares.
    ///
    /// - Throws: ``RebuildError`` or `PostgresError`; only the shadow has changed.
    public func run() async throws {
        let clock = ContinuousClock()
        let start = clock.now
        _ = try await PostgresMigrator(
            url: databases.shadow,
            migrations: migrations,
            logger: logger
        ).migrate()
        let (filled, applying) = try await withSession(settings(databases.live)) { live in
            try await RebuildStore.useUTC(on: live)
            try await live.beginSnapshot()
            try await LogArchiveStore.holdMonths(on: live)
            return try await withSession(settings(databases.shadow)) { shadow in
                try await RebuildStore.useUTC(on: shadow)
                try await RebuildStore.doNotWaitForDisk(on: shadow)
                try await RebuildStore.makeUnlogged(rebuilder.tables, on: shadow)
                try await RebuildStore.drop(rebuilder.unreadIndexes, on: shadow)
                let begin = clock.now
                let filled = try await fill(shadow, from: live)
                let applying = clock.now - begin
                try await shadow.beginSnapshot()
                for table in rebuilder.tables {
                    try await compare(table, live, shadow)
                }
                return (filled, applying)
            }
        }
        tell(
            .done(
                events: filled.applied,
                contradictions: filled.contradictions,
                applyingMilliseconds: Self.milliseconds(applying),
                milliseconds: Self.milliseconds(clock.now - start)
            )
        )
    }

    private static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }

    private func settings(_ url: String) -> PostgresSettings {
        PostgresSettings(
            url: url,
            applicationName: "counterfoil-rebuild",
            poolSize: 1,
            statementTimeout: .zero,
            // A log is read page by page in its order. Without the index, PostgreSQL would sort it
            // for every page.
            prefersIndexes: true
        )
    }

    // MARK: - Filling

    private func fill(
        _ shadow: PostgresConnection,
        from live: PostgresConnection
    ) async throws -> Progress {
        var progress = Progress()
        for source in rebuilder.sources {
            guard let consumer = source.consumer else {
                let archives = try await archives(of: source, on: live)
                progress.total += try await total(of: source, archives, on: live)
                try await apply(source, to: shadow, &progress) { place in
                    try await EventLog.rows(
                        after: place,
                        limit: Self.batchSize,
                        part: .visible,
                        types: source.types,
                        archives: archives,
                        on: live
                    )
                }
                continue
            }
            guard let url = databases.logs[source.service.rawValue] else {
                throw RebuildError(
                    .logMissing,
                    "no database is given for the log of \(source.service.rawValue)"
                )
            }
            try await withSession(settings(url)) { log in
                let dropped = try await LogArchiveStore.dropped(on: log)
                let archives = try await archives(of: source, on: log)
                progress.total += try await total(of: source, archives, on: log)
                // What the consumer has applied is published, though the server may not have settled it.
                try await apply(source, to: shadow, &progress) { place in
                    let rows = try await EventLog.rows(
                        after: place,
                        limit: Self.batchSize,
                        part: .visible,
                        types: source.types,
                        archives: archives,
                        on: log
                    )
                    try await LogArchiveStore.requireNoOthers(than: dropped, on: log)
                    return rows
                } filter: { rows in
                    let done = try await AppliedEvents.among(
                        rows.map(AppliedEvents.Entry.init),
                        by: consumer.rawValue,
                        on: live
                    )
                    return rows.filter { done.contains($0.event.id) }
                }
            }
        }
        return progress
    }

    private func archives(
        of source: RebuildSource,
        on log: PostgresConnection
    ) async throws -> ArchivedRows? {
        try await ArchivedRows.find(in: databases.archives, of: source.service.rawValue, on: log)
    }

    private func total(
        of source: RebuildSource,
        _ archives: ArchivedRows?,
        on log: PostgresConnection
    ) async throws -> Int {
        Int(try await EventLog.count(of: source.types, on: log)) + (archives?.count ?? 0)
    }

    private struct Progress {
        var applied = 0
        var total = 0
        var contradictions = 0
    }

    /// Applies a log page by page; the next page is read while one is applied.
    private func apply(
        _ source: RebuildSource,
        to shadow: PostgresConnection,
        _ progress: inout Progress,
        read: @escaping @Sendable (LogPlace) async throws -> [OutboxRow],
        filter: @escaping @Sendable ([OutboxRow]) async throws -> [OutboxRow] = { $0 }
    ) async throws {
        /// Reads a page of the log, and filters the rows that count.
        @Sendable func page(after place: LogPlace) async throws -> ([OutboxRow], [OutboxRow]) {
            let all = try await read(place)
            return (all, try await filter(all))
        }
        var (all, rows) = try await page(after: .start)
        while let last = all.last {
            async let next = page(after: last.place)
            let batch = rows
            if !batch.isEmpty {
                let contradictions = try await shadow.inTransaction { [rebuilder] shadow in
                    guard source.consumer == nil else {
                        return try LogContradiction.reading(batch) { rows in
                            try rebuilder.consume(rows.map(ReceivedEvent.init), on: shadow)
                        }
                    }
                    return try rebuilder.apply(batch, on: shadow)
                }
                for contradiction in contradictions {
                    progress.contradictions += 1
                    if progress.contradictions <= Self.toldMax {
                        tell(.contradiction(contradiction))
                    }
                }
            }
            progress.applied += all.count
            tell(.applied(events: progress.applied, total: max(progress.total, progress.applied)))
            (all, rows) = try await next
        }
    }

    // MARK: - Comparing

    private func compare(
        _ table: RebuiltTable,
        _ live: PostgresConnection,
        _ shadow: PostgresConnection
    ) async throws {
        try await RebuildStore.open(table, .live, on: live)
        try await RebuildStore.open(table, .rebuilt, on: shadow)
        var comparison = TableComparison(columns: table.columns.map(\.name))
        var count = 0
        reading: while true {
            let need = comparison.advance()
            for difference in comparison.takeDifferences() {
                count += 1
                if count <= Self.toldMax {
                    tell(.difference(table: table.name, difference))
                }
            }
            switch need {
            case .live:
                comparison.take(live: try await RebuildStore.page(on: live))
                tell(.comparing(table: table.name, rows: comparison.rowCount))
            case .rebuilt: comparison.take(rebuilt: try await RebuildStore.page(on: shadow))
            case .nothing: break reading
            }
        }
        try await RebuildStore.close(on: live)
        try await RebuildStore.close(on: shadow)
        tell(.table(name: table.name, rows: comparison.rowCount, differences: count))
    }
}

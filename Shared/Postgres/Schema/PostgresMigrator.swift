public import Logging

/// One step in building a database's schema.
public struct PostgresMigration: Sendable {
    /// The name under which it is recorded; it never changes.
    public let name: String
    /// The statements.
    ///
    /// They must not change once the migration has been applied.
    public let sql: String

    /// Makes a migration from a text.
    public init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }

    /// Makes a migration from the bytes of a UTF-8 file, such as an embedded resource.
    public init(name: String, bytes: [UInt8]) {
        self.init(name: name, sql: String(decoding: bytes, as: UTF8.self))
    }
}

/// The comparison of a database with the migrations that a program knows.
public enum PostgresMigrationState: Sendable, Hashable {
    /// All migrations are applied, and no others.
    case current
    /// These migrations are yet to be applied.
    case pending([String])
    /// The database has these migrations, which the program does not know.
    case newer([String])
}

/// Brings a database's schema to the state that the program needs.
///
/// Each migration is applied once, in order. Its statements and its row in the table
/// `schema_migrations` are committed in one database transaction, so a migration that fails or is
/// killed leaves nothing behind. Migrators of several processes wait for each other.
public struct PostgresMigrator: Sendable {
    /// The advisory lock that a migrator holds.
    private static let lockKey: Int64 = 0x6D69_6772_6174_6573
    /// The longest wait of a migration for a lock on a table.
    ///
    /// It then gives up, so that other sessions do not have to wait behind it.
    private static let lockTimeoutMilliseconds = 10_000

    private let settings: PostgresSettings
    private let migrations: [PostgresMigration]
    private let logger: Logger

    /// Makes a migrator without connecting.
    ///
    /// - Parameters:
    ///   - url: The connection URL of the role that owns the tables.
    ///   - migrations: All migrations, in order.
    ///   - logger: Receives the names of the applied migrations.
    public init(url: String, migrations: [PostgresMigration], logger: Logger) {
        precondition(
            Set(migrations.map(\.name)).count == migrations.count,
            "Two migrations have the same name."
        )
        // A migration may have to rewrite a large table, so there is no statement timeout.
        settings = PostgresSettings(
            url: url,
            applicationName: "migrate",
            poolSize: 1,
            statementTimeout: .zero
        )
        self.migrations = migrations
        self.logger = logger
    }

    /// Applies the pending migrations.
    ///
    /// - Returns: The number of migrations applied.
    /// - Throws: ``PostgresError``. With ``PostgresError/Code/databaseIsNewer`` and
    ///   ``PostgresError/Code/migrationChanged``, nothing has been changed.
    public func migrate() async throws -> Int {
        try await withSession(settings) { connection in
            // It polls, as a waiting statement would hold back the removal of dead rows.
            while true {
                if let applied = try await migrateIfAlone(on: connection) { return applied }
                try await Task.sleep(for: .milliseconds(250))
            }
        }
    }

    /// Applies the pending migrations in one turn on the connection's thread.
    ///
    /// The session is silent only while the process is stopped: between two statements nothing
    /// waits for a turn in the pool of tasks, however busy that is.
    ///
    /// - Returns: The number of migrations applied; `nil` if another session is migrating.
    private func migrateIfAlone(on connection: isolated PostgresConnection) throws -> Int? {
        guard try connection.tryLock(Self.lockKey) else { return nil }
        try connection.makeMigrationsTable()
        switch try state(on: connection) {
        case .current: return 0
        case .newer(let names):
            throw PostgresError(
                .databaseIsNewer,
                "the database has migrations that this program does not know: "
                    + names.joined(separator: ", ")
            )
        case .pending(let names):
            let pending = Set(names)
            for migration in migrations where pending.contains(migration.name) {
                try connection.apply(
                    migration,
                    lockTimeoutMilliseconds: Self.lockTimeoutMilliseconds
                )
                logger.info("Migration applied", metadata: ["migration": "\(migration.name)"])
            }
            return names.count
        }
    }

    /// Compares a database with the migrations.
    ///
    /// - Throws: ``PostgresError``, with ``PostgresError/Code/migrationChanged`` if the text of an
    ///   applied migration differs from this program's.
    public func state(
        on connection: isolated PostgresConnection
    ) throws -> PostgresMigrationState {
        let known = try connection.query(
            "SELECT to_regclass('schema_migrations') IS NOT NULL"
        )
        guard try known.first?.decode(Bool.self) ?? false else {
            return migrations.isEmpty ? .current : .pending(migrations.map(\.name))
        }
        let rows = try connection.query(
            """
            SELECT coalesce(known.name, applied.name), known.name IS NULL, applied.name IS NULL,
                coalesce(applied.checksum <> encode(sha256(known.bytes), 'hex'), false)
            FROM unnest(
                \(migrations.map(\.name)), \(migrations.map { Array($0.sql.utf8) })
            ) WITH ORDINALITY AS known (name, bytes, place)
            FULL JOIN schema_migrations AS applied ON applied.name = known.name
            ORDER BY known.place, applied.name
            """
        )
        var newer: [String] = []
        var pending: [String] = []
        var changed: [String] = []
        for row in rows {
            let (name, isUnknown, isPending, isChanged) = try row.decode(
                String.self,
                Bool.self,
                Bool.self,
                Bool.self
            )
            if isUnknown { newer.append(name) }
            if isPending { pending.append(name) }
            if isChanged { changed.append(name) }
        }
        guard changed.isEmpty else {
            throw PostgresError(
                .migrationChanged,
                "applied migrations read otherwise than this program's: "
                    + changed.joined(separator: ", ")
            )
        }
        if !newer.isEmpty { return .newer(newer) }
        return pending.isEmpty ? .current : .pending(pending)
    }
}

extension PostgresConnection {
    fileprivate func makeMigrationsTable() throws(PostgresError) {
        // Every role may read the state of the schema, because a service checks it before it is
        // ready.
        try simple(
            """
            CREATE TABLE IF NOT EXISTS schema_migrations (
                name text PRIMARY KEY,
                checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now()
            );
            GRANT SELECT ON schema_migrations TO PUBLIC
            """
        )
    }

    fileprivate func apply(
        _ migration: PostgresMigration,
        lockTimeoutMilliseconds: Int
    ) throws {
        do {
            try inTransaction { connection in
                try connection.simple(
                    "SET LOCAL lock_timeout = \(lockTimeoutMilliseconds)"
                )
                // The migration is sent as one text, because a file may contain several statements.
                try connection.simple(migration.sql)
                guard try connection.requireSession().transactionStatus == .open else {
                    throw PostgresError(
                        .server,
                        "the migration ends the database transaction it runs in"
                    )
                }
                try connection.execute(
                    """
                    INSERT INTO schema_migrations (name, checksum)
                    VALUES (\(migration.name),
                        encode(sha256(\(Array(migration.sql.utf8))), 'hex'))
                    """
                )
            }
        } catch let error as PostgresError {
            throw error.prefixed(with: "migration \(migration.name)")
        }
    }
}

public import Logging

/// One step in the making of a database's schema.
public struct PostgresMigration: Sendable {
    /// The name it is remembered by; it never changes.
    public let name: String
    /// The statements; after the migration was applied they never change either.
    public let sql: String

    /// Makes a migration of a text.
    public init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }

    /// Makes a migration of the bytes of a file in UTF-8, as resources embedded in code are.
    public init(name: String, bytes: [UInt8]) {
        self.init(name: name, sql: String(decoding: bytes, as: UTF8.self))
    }
}

/// How a database compares with the migrations that a program knows.
public enum PostgresMigrationState: Sendable, Hashable {
    /// All are applied, and no others.
    case current
    /// These are yet to be applied.
    case pending([String])
    /// The database has these, which the program does not know.
    case newer([String])
}

/// Brings a database's schema to where the program needs it.
///
/// Each migration is applied once, in order, in one database transaction with the note of it in the
/// table `schema_migrations`: a migration that fails, or is killed, leaves nothing. Migrators of
/// several processes wait for each other.
public struct PostgresMigrator: Sendable {
    /// The advisory lock of whoever migrates.
    private static let lockKey: Int64 = 0x6D69_6772_6174_6573
    /// A migration that waits longer than this for a lock on a table gives up, rather than letting
    /// everybody wait behind it.
    private static let lockTimeoutMilliseconds = 10_000

    private let settings: PostgresSettings
    private let migrations: [PostgresMigration]
    private let logger: Logger

    /// Makes a migrator without connecting.
    ///
    /// - Parameters:
    ///   - url: The connection URL of the role that owns the tables.
    ///   - migrations: All migrations, in order.
    ///   - logger: Where it tells what it applies.
    public init(url: String, migrations: [PostgresMigration], logger: Logger) {
        precondition(
            Set(migrations.map(\.name)).count == migrations.count,
            "Two migrations have the same name."
        )
        // A migration may have to rewrite a large table: no statement timeout.
        settings = PostgresSettings(
            url: url,
            applicationName: "migrate",
            poolSize: 1,
            statementTimeout: .zero
        )
        self.migrations = migrations
        self.logger = logger
    }

    /// Applies what is pending.
    ///
    /// - Returns: The number of migrations applied.
    /// - Throws: ``PostgresError``, with ``PostgresError/Code/databaseIsNewer`` or
    ///   ``PostgresError/Code/migrationChanged`` before anything was changed.
    public func migrate() async throws -> Int {
        try await withSession(settings) { connection in
            // All work is done in this session: it is silent only where the process is stopped.
            try await connection.limitSilence()
            try await connection.waitForLock(Self.lockKey)
            try await connection.makeMigrationsTable()
            switch try await state(on: connection) {
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
                    try await connection.apply(
                        migration,
                        lockTimeoutMilliseconds: Self.lockTimeoutMilliseconds
                    )
                    logger.info("Migration applied", metadata: ["migration": "\(migration.name)"])
                }
                return names.count
            }
        }
    }

    /// Compares a database with the migrations.
    ///
    /// - Throws: ``PostgresError``, with ``PostgresError/Code/migrationChanged`` if an applied
    ///   migration reads otherwise than this program's.
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
        // Every role may see where the schema stands: a service asks before it is ready.
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
            try transaction { connection in
                try connection.simple(
                    "SET LOCAL lock_timeout = \(lockTimeoutMilliseconds)"
                )
                // As one text: a file may hold several statements.
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

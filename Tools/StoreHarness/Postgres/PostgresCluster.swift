import Foundation
public import Logging
public import Postgres

/// A PostgreSQL server for tests and tools, with its own directory and port and the store's roles.
///
/// Tests share a server that lives as long as the process. `make run` and the chaos tests create
/// their own durable ones. If the process runs as root, the server's programs run as the user
/// `postgres`, because they refuse to run as root.
public final class PostgresCluster: Sendable {
    /// The ways to stop a server.
    public enum StopMode: String, Sendable {
        /// Rolls back open database transactions and closes all sessions.
        case fast
        /// Stops the server like a crash. The next start recovers.
        case immediate
    }

    /// The role that owns the databases and tables and runs migrations.
    public static let owner = "counterfoil_owner"
    /// The time for which a test waits for a connection.
    ///
    /// Many tests share few processors.
    public static let patience = Duration.seconds(60)
    /// The run-time roles of the services.
    public static let serviceRoles = [
        "counterfoil_catalog", "counterfoil_payments", "counterfoil_receipts",
        "counterfoil_fulfillment",
    ]

    /// The role of `counterfoil`, the operator's command line.
    public static let operatorRole = "counterfoil_operator"

    /// The role of the console, which may only read.
    public static let readerRole = "counterfoil_reader"

    /// The role of `counterfoil log drop`.
    public static let archivistRole = "counterfoil_archivist"

    /// The role whose databases `counterfoil replay --verify` fills.
    public static let shadowRole = "counterfoil_shadow"

    /// The directory of all files of the server, including `data` and `postgres.log`.
    public let directory: String
    /// The port on 127.0.0.1.
    public let port: Int
    /// The file system of its data, if it has its own.
    public let disk: MemoryDisk?
    private let isDurable: Bool
    private let settings: [String]
    private let programs: ServerPrograms?
    private let adminURL: String

    /// Describes a cluster without creating or starting it.
    ///
    /// - Parameters:
    ///   - directory: The directory of its existing or future files. It is not removed.
    ///   - port: The port on 127.0.0.1; `nil` chooses a free one.
    ///   - isDurable: Whether a commit waits for the disk. If not, a crash of the machine loses
    ///     data, but a crash of the server does not.
    ///   - settings: Further settings of the server, such as `track_commit_timestamp=on`.
    ///   - hasOwnDisk: Whether its data, including the write-ahead log, is on a ``MemoryDisk``,
    ///     which is mounted immediately. Such a cluster must be new and belong to
    ///     ``TemporaryClusters``.
    /// - Throws: ``PostgresClusterError`` if the server's programs are not installed,
    ///   ``HarnessError`` if nothing can be mounted.
    public init(
        directory: String,
        port: Int? = nil,
        isDurable: Bool = true,
        settings: [String] = [],
        hasOwnDisk: Bool = false
    ) throws {
        self.directory = directory
        self.port = try port ?? freePort()
        self.isDurable = isDurable
        self.settings = settings
        let programs = try ServerPrograms.find()
        self.programs = programs
        if hasOwnDisk {
            let data = directory + "/data"
            try FileManager.default.createDirectory(
                atPath: data,
                withIntermediateDirectories: true
            )
            disk = try MemoryDisk.mount(on: data)
            try programs.handOver(data)
        } else {
            disk = nil
        }
        adminURL = "postgres://postgres@127.0.0.1:\(self.port)/postgres"
    }

    /// Describes an existing server that this process must not stop.
    private init(url: String) {
        directory = ""
        port = URLComponents(string: url)?.port ?? 5432
        disk = nil
        isDurable = true
        settings = []
        programs = nil
        adminURL = url
    }

    /// The cluster that all tests of the process share.
    ///
    /// It is the server at `POSTGRES_URL` (the URL of a superuser), or one that is started at the
    /// first use and removed with the process.
    public static func shared() async throws -> PostgresCluster {
        try await sharedStart.value
    }

    private static let sharedStart = Task<PostgresCluster, any Error> {
        if let url = ProcessInfo.processInfo.environment["POSTGRES_URL"] {
            let cluster = PostgresCluster(url: url)
            try await cluster.createRoles()
            return cluster
        }
        let directory = try TemporaryClusters.makeDirectory()
        let cluster = try PostgresCluster(directory: directory, isDurable: false)
        try await cluster.start()
        TemporaryClusters.removeAtExit(directory)
        return cluster
    }

    /// Returns the URL of a database for a role.
    public func url(database: String, role: String = PostgresCluster.owner) -> String {
        var components = URLComponents(string: adminURL) ?? URLComponents()
        components.path = "/" + database
        if role != "postgres" {
            components.user = role
            // The harness's own servers need no password, but the one at POSTGRES_URL may need one.
            components.password = "counterfoil"
        }
        return components.string ?? ""
    }

    /// Returns the path of a PostgreSQL program on this machine, such as `pgbench`.
    ///
    /// - Parameter name: The program.
    /// - Returns: Its path.
    /// - Throws: ``PostgresClusterError`` if the server's programs are not installed.
    public static func program(_ name: String) throws -> String {
        try ServerPrograms.find().path(of: name)
    }

    /// Whether a server runs in the directory.
    public var isRunning: Bool {
        guard let programs else { return true }
        guard processID != nil else { return false }
        // The file may have survived a crash. pg_ctl fails if no server runs.
        return (try? programs.run("pg_ctl", ["status", "-D", dataDirectory])) != nil
    }

    /// Whether the server is the harness's own, so that all its databases are removed with it.
    public var isOwn: Bool { programs != nil }

    /// Creates the cluster, which must not exist yet, with the data of one that is stopped.
    func create(copying data: String) throws {
        guard let programs else { return }
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true
        )
        try programs.handOver(directory)
        try programs.copy(data, to: dataDirectory)
    }

    /// Creates the cluster if it does not exist, starts the server and waits until it answers.
    public func start() async throws {
        guard let programs else { return }
        let isNew = !FileManager.default.fileExists(atPath: dataDirectory + "/PG_VERSION")
        if isNew {
            try FileManager.default.createDirectory(
                atPath: directory,
                withIntermediateDirectories: true
            )
            try programs.handOver(directory)
            try programs.run(
                "initdb",
                [
                    "-D", dataDirectory, "-U", "postgres", "--auth=trust", "--encoding=UTF8",
                    "--locale=C.UTF-8", "--no-sync",
                ]
            )
        }
        guard !isRunning else { return }
        var options = [
            "port=\(port)", "listen_addresses=127.0.0.1", "unix_socket_directories=\(directory)",
            "max_connections=200", "log_min_messages=warning", "log_line_prefix=%m:%p:%u@%d:",
        ]
        if !isDurable {
            options += ["fsync=off", "full_page_writes=off"]
        }
        let text = (options + settings).map { "-c " + $0 }.joined(separator: " ")
        do {
            try programs.run(
                "pg_ctl",
                [
                    "start", "-D", dataDirectory, "-l", logFile, "-w", "-t", "30", "-s", "-o", text,
                ]
            )
        } catch {
            // Without a log the error has only the reason of pg_ctl.
            let log = (try? String(contentsOfFile: logFile, encoding: .utf8)) ?? ""
            throw PostgresClusterError(
                "PostgreSQL did not start in \(directory): \(error). \(log.suffix(600))"
            )
        }
        // Create roles in existing clusters, too: a role may be newer than the cluster.
        try await createRoles()
    }

    /// Stops the server; its files stay.
    public func stop(_ mode: StopMode = .fast) throws {
        guard let programs else { return }
        guard isRunning else { return }
        // A frozen server cannot react. `thaw` throws if the server has just ended.
        try? thaw()
        try programs.run(
            "pg_ctl",
            ["stop", "-D", dataDirectory, "-m", mode.rawValue, "-w", "-t", "30", "-s"]
        )
    }

    /// Restarts the server on the same port.
    public func restart(_ mode: StopMode = .fast) async throws {
        try stop(mode)
        try await start()
    }

    /// Takes a physical backup of the running server, as described in `deploy/README.md`.
    ///
    /// - Parameter name: The name of the backup, below the server's directory.
    /// - Throws: ``PostgresClusterError``.
    public func backUp(as name: String) throws {
        try programs?.run(
            "pg_basebackup",
            [
                "-h", "127.0.0.1", "-p", "\(port)", "-U", "postgres", "-c", "fast", "-X", "fetch",
                "-D", directory + "/" + name,
            ]
        )
    }

    /// Stops the server, replaces its data with a backup, and starts it.
    public func restore(from name: String) async throws {
        try stop(.immediate)
        try FileManager.default.removeItem(atPath: dataDirectory)
        try FileManager.default.moveItem(atPath: directory + "/" + name, toPath: dataDirectory)
        try await start()
    }

    /// Creates a database owned by the owner's role.
    ///
    /// - Parameters:
    ///   - name: The database.
    ///   - template: The database to copy, to which nobody may be connected.
    /// - Throws: An error of the server.
    public func createDatabase(_ name: String, copying template: String = "template1") async throws
    {
        try await asSuperuser { connection in
            try Self.createDatabase(name, copying: template, on: connection)
        }
    }

    static func createDatabase(
        _ name: String,
        copying template: String,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            CREATE DATABASE "\(unsafe: name)" OWNER \(unsafe: Self.owner)
            TEMPLATE "\(unsafe: template)"
            """
        )
    }

    /// Drops databases and disconnects their clients.
    public func dropDatabases(_ names: [String]) async throws {
        try await asSuperuser { connection in
            for name in names {
                try connection.execute("DROP DATABASE IF EXISTS \"\(unsafe: name)\" WITH (FORCE)")
            }
        }
    }

    /// Runs statements as the superuser in the database `postgres`.
    ///
    /// - Parameters:
    ///   - limit: The time limit for a connection.
    ///   - body: The statements.
    /// - Returns: The result of the body.
    /// - Throws: An error of the body or of the connection.
    @discardableResult
    public func asSuperuser<R: Sendable>(
        within limit: Duration = PostgresCluster.patience,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> R
    ) async throws -> R {
        let settings = PostgresSettings(
            url: adminURL,
            applicationName: "tests-superuser",
            poolSize: 1,
            acquireTimeout: limit
        )
        return try await withRunningClient(settings) { client in
            try await client.withConnection(body)
        }
    }

    private var dataDirectory: String { directory + "/data" }
    private var logFile: String { directory + "/postgres.log" }

    private func createRoles() async throws {
        let roles =
            [(Self.owner, "CREATEDB"), (Self.shadowRole, "CREATEDB")]
            + (Self.serviceRoles + [Self.operatorRole, Self.readerRole, Self.archivistRole]).map {
                ($0, "")
            }
        try await asSuperuser { connection in
            // Only one process at a time, because several may share the server at POSTGRES_URL.
            try connection.execute("SELECT pg_advisory_lock(7220111)")
            for (role, options) in roles {
                let exists = try connection.query(
                    "SELECT 1 FROM pg_roles WHERE rolname = \(role)"
                )
                guard exists.isEmpty else { continue }
                try connection.execute(
                    "CREATE ROLE \(unsafe: role) LOGIN \(unsafe: options) PASSWORD 'counterfoil'"
                )
            }
            try connection.execute("SELECT pg_advisory_unlock(7220111)")
        }
    }
}

/// An error of a server that was not found or could not be started, with a remedy.
public struct PostgresClusterError: Error, CustomStringConvertible {
    /// A description of the error and its remedy.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Runs a body with a client whose connection pool is open.
public func withRunningClient<R: Sendable>(
    _ settings: PostgresSettings,
    logger: Logger? = nil,
    machineClock: @escaping @Sendable () -> PostgresTimestamp = PostgresClock.machine,
    _ body: (PostgresClient) async throws -> R
) async throws -> R {
    let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    let client = PostgresClient(
        settings: settings,
        machineClock: machineClock,
        logger: logger ?? quiet
    )
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await client.run() }
        do {
            let result = try await body(client)
            group.cancelAll()
            return result
        } catch {
            group.cancelAll()
            throw error
        }
    }
}

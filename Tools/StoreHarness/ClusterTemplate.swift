import Crypto
import Foundation

/// A stopped cluster with the roles and the migrated databases of this build, which stores copy.
///
/// `initdb` and the migrations of four services take seconds, and a copy takes less than one. The first
/// process of a build makes the template, and removes those whose build was changed or is gone. `make run`
/// does without it.
enum ClusterTemplate {
    /// Returns the database of the template from which a service's is copied.
    static func database(of service: StoreService) -> String { "migrated_" + service.rawValue }

    /// Creates a cluster, which must not exist yet, as a copy of the template.
    ///
    /// - Parameter cluster: The cluster. It is not started.
    /// - Throws: ``HarnessError`` or ``PostgresClusterError`` if the template cannot be made.
    static func create(_ cluster: PostgresCluster) async throws {
        let base = TemporaryClusters.base(isDurable: false)
        let build = BuiltExecutables.directory
        guard let stamp = try stamp(of: build) else {
            throw HarnessError(
                "There are executables missing in \(build): run `swift build` first."
            )
        }
        // Others wait while one makes the template, and nobody removes what is being copied.
        let lock = try await lock("\(base)/\(prefix)lock")
        defer { close(lock) }
        let digest = SHA256.hash(data: Data(stamp.utf8)).prefix(8).map { String($0, radix: 16) }
        let directory = "\(base)/\(prefix)\(digest.joined())"
        if !FileManager.default.fileExists(atPath: directory) {
            try removeOthers(in: base)
            try await make(directory, in: base, stamp: stamp)
        }
        try cluster.create(copying: directory + "/data")
    }

    /// The beginning of the names of all templates of this user.
    private static var prefix: String { "counterfoil-template-\(geteuid())-" }

    /// Returns what a template depends on: the server's programs, and the executables of a build.
    ///
    /// `devstore` contains the harness, which creates the roles. It may be in another folder.
    ///
    /// - Returns: The folder of the build in the first line; `nil` without the services' executables.
    private static func stamp(of build: String) throws -> String? {
        var lines = [build, try ServerPrograms.find().path(of: "postgres")]
        for name in StoreService.allCases.map(\.rawValue) + ["devstore"] {
            var status = stat()
            guard stat(build + "/" + name, &status) == 0 else {
                if name == "devstore" { continue }
                return nil
            }
            let time = status.st_mtim
            lines.append("\(name) \(status.st_size) \(time.tv_sec) \(time.tv_nsec)")
        }
        return lines.joined(separator: "\n")
    }

    /// Makes the template in a temporary directory, and gives it its name when it is complete.
    private static func make(_ directory: String, in base: String, stamp: String) async throws {
        let temporary = try TemporaryClusters.makeDirectory(in: base)
        TemporaryClusters.removeAtExit(temporary)
        // Fewer files of the write-ahead log stay behind to be copied.
        let cluster = try PostgresCluster(
            directory: temporary,
            isDurable: false,
            settings: ["min_wal_size=32MB"]
        )
        try await cluster.start()
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for service in StoreService.allCases {
                    group.addTask {
                        try await migrate(database(of: service), of: service, on: cluster)
                    }
                }
                try await group.waitForAll()
            }
            try cluster.stop(.fast)
        } catch {
            // Otherwise it is killed at exit.
            try? cluster.stop(.immediate)
            throw error
        }
        try stamp.write(toFile: temporary + "/build", atomically: true, encoding: .utf8)
        try FileManager.default.moveItem(atPath: temporary, toPath: directory)
    }

    /// Creates a service's database and runs the service's own `migrate`.
    private static func migrate(
        _ database: String,
        of service: StoreService,
        on cluster: PostgresCluster
    ) async throws {
        try await cluster.ensureDatabase(database, connectableBy: service.role)
        var environment = ["MIGRATION_DATABASE_URL": cluster.url(database: database)]
        for name in ["PATH", "HOME", "TZ", "LD_LIBRARY_PATH"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        try await ChildProcess.run(
            try BuiltExecutables.path(service.rawValue),
            ["migrate"],
            environment: environment
        )
    }

    /// Removes templates whose build was changed or is gone.
    private static func removeOthers(in base: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: base)
        where name.hasPrefix(prefix) {
            // The file of the lock has no such file in it.
            let file = "\(base)/\(name)/build"
            guard let stamp = try? String(contentsOfFile: file, encoding: .utf8) else { continue }
            let build = stamp.prefix { $0 != "\n" }
            if try self.stamp(of: String(build)) == stamp { continue }
            // One that cannot be removed only takes room.
            try? FileManager.default.removeItem(atPath: "\(base)/\(name)")
        }
    }

    /// Locks a file, and waits for other processes and for other stores of this one.
    ///
    /// - Returns: The descriptor whose end releases the lock.
    private static func lock(_ path: String) async throws -> Int32 {
        let file = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else {
            throw HarnessError("Cannot open \(path): \(String(cString: strerror(errno))).")
        }
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            do {
                try await Task.sleep(for: .milliseconds(20))
            } catch {
                close(file)
                throw error
            }
        }
        return file
    }
}

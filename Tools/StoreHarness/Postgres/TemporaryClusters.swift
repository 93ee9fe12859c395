import Foundation
import Synchronization

/// The directories of clusters that are removed with their process.
enum TemporaryClusters {
    private static let prefix = "counterfoil-postgres-"
    private static let directories = Mutex<[String]>([])

    /// Makes a directory named after this process, and removes those of ended processes.
    ///
    /// Data that is not durable is kept in memory if there is plenty. Tests make and drop thousands of
    /// databases of hundreds of files, and a file system on a disk spends most of the processors' time
    /// on looking for free inodes.
    static func makeDirectory(isDurable: Bool = false) throws -> String {
        try makeDirectory(in: base(isDurable: isDurable))
    }

    /// The directory that contains those of all clusters.
    static func base(isDurable: Bool) -> String {
        ProcessInfo.processInfo.environment["COUNTERFOIL_TEST_DIRECTORY"]
            ?? (!isDurable && isRoomy(memory) ? memory : "/tmp")
    }

    /// Makes a directory in one that ``base(isDurable:)`` has returned.
    static func makeDirectory(in base: String) throws -> String {
        for name in try FileManager.default.contentsOfDirectory(atPath: base)
        where name.hasPrefix(prefix) {
            let process = name.dropFirst(prefix.count).prefix { $0.isNumber }
            guard let id = pid_t(process), kill(id, 0) != 0, errno == ESRCH else { continue }
            remove(base + "/" + name)
        }
        let directory = "\(base)/\(prefix)\(getpid())-\(UInt16.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true
        )
        return directory
    }

    /// The file system in memory that Linux provides.
    private static let memory = "/dev/shm"

    /// Whether there are 8 GiB for all clusters of a run of tests, which need about one.
    private static func isRoomy(_ folder: String) -> Bool {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return false }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize) >= 8 << 30
    }

    /// Stops the server in a directory and removes the directory at the end of the process.
    static func removeAtExit(_ directory: String) {
        let isFirst = directories.withLock { directories in
            directories.append(directory)
            return directories.count == 1
        }
        guard isFirst else { return }
        atexit {
            for directory in TemporaryClusters.directories.withLock({ $0 }) {
                TemporaryClusters.remove(directory)
            }
        }
    }

    /// Kills the server whose process id is in the directory, and removes the directory.
    private static func remove(_ directory: String) {
        let note = directory + "/data/postmaster.pid"
        if let text = try? String(contentsOfFile: note, encoding: .utf8),
            let id = text.split(separator: "\n").first.flatMap({ pid_t($0) }), id > 1
        {
            // A frozen server would not receive the signal.
            ProcessTree.resume(id)
            // SIGQUIT asks the server for an immediate shutdown. Only init is notified of its end,
            // so wait for a limited time until the file with its process id is gone.
            kill(id, SIGQUIT)
            var attempts = 0
            while kill(id, 0) == 0, attempts < 200 {
                usleep(10_000)
                attempts += 1
            }
        }
        MemoryDisk.unmount(directory + "/data")
        // At worst it stays in a temporary directory until the next process removes it.
        try? FileManager.default.removeItem(atPath: directory)
    }
}

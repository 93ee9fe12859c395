import Foundation
import Synchronization

/// An S3-compatible store for one test.
///
/// It is rclone as a child process. A temporary folder holds the objects as files, so that a test
/// can read them without HTTP. The store verifies signatures.
public final class S3Store: Sendable {
    /// The port of the store.
    public let port: Int
    /// The only bucket.
    public let bucket = "contents"
    /// The id of the key.
    public let accessKey = "counterfoil-tests"
    /// The secret of the key.
    public let secretKey = "a/secret/of/the/tests"

    private let directory: String
    private let process = Mutex<ChildProcess?>(nil)

    private init(port: Int) {
        self.port = port
        directory = NSTemporaryDirectory() + "/counterfoil-s3-\(UUID().uuidString)"
    }

    deinit {
        process.withLock { $0?.send(SIGKILL) }
        try? FileManager.default.removeItem(atPath: directory)  // A leftover does no harm.
    }

    /// Starts a store and waits until it answers.
    ///
    /// - Throws: ``HarnessError``, which explains how to install a missing store.
    public static func start() async throws -> S3Store {
        let store = S3Store(port: try freePort())
        try FileManager.default.createDirectory(
            atPath: store.folder,
            withIntermediateDirectories: true
        )
        try await store.restart()
        return store
    }

    /// The URL of the store.
    public var endpoint: String { "http://127.0.0.1:\(port)" }

    /// The folder of the objects.
    private var folder: String { "\(directory)/objects/\(bucket)" }

    /// Returns the objects by name.
    public func objects() throws -> [String: [UInt8]] {
        var objects: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            let path = "\(folder)/\(name)"
            // Folders have no contents, and a file may have been removed in the meantime.
            objects[name] = FileManager.default.contents(atPath: path).map { Array($0) }
        }
        return objects
    }

    /// Writes an object without HTTP; `nil` removes it.
    public func write(_ bytes: [UInt8]?, as name: String) throws {
        let path = "\(folder)/\(name)"
        guard let bytes else { return try FileManager.default.removeItem(atPath: path) }
        let parent = (path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(
            atPath: parent,
            withIntermediateDirectories: true
        )
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// Kills the store, even during a request.
    public func kill() async {
        guard let child = process.withLock({ $0.take() }) else { return }
        child.send(SIGKILL)
        _ = await child.exit()
    }

    /// Restarts the store on the same port with the same objects.
    public func restart() async throws {
        await kill()
        let logPath = "\(directory)/log"
        let child = try await ChildProcess.start(
            try Self.executable(),
            [
                "serve", "s3", "\(directory)/objects", "--addr", "127.0.0.1:\(port)", "--config",
                "",
                // Files that a test writes directly must be visible immediately.
                "--dir-cache-time", "0s",
            ],
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": directory,
                "RCLONE_AUTH_KEY": "\"\(accessKey),\(secretKey)\"",
            ],
            logPath: logPath
        )
        process.withLock { $0 = child }
        let listens = try await eventually("the S3 store to listen on port \(port)") {
            if child.exitIfEnded != nil { return false }
            return accepts(port: self.port) ? true : nil
        }
        guard listens else {
            let log = (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? ""
            throw HarnessError("The S3 store ended at once:\n\(log.suffix(2000))")
        }
    }

    /// Returns the store's executable: `COUNTERFOIL_RCLONE`, or the one installed by `make setup`.
    private static func executable() throws -> String {
        if let path = ProcessInfo.processInfo.environment["COUNTERFOIL_RCLONE"] { return path }
        let path = SourceTree.path(".deps/bin/rclone")
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw HarnessError("The S3 store of the tests is not at \(path); run `make setup`.")
        }
        return path
    }
}

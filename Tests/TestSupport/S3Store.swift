import Foundation
import Synchronization

/// An S3-compatible store for one test: rclone's as a child process, over a temporary folder that
/// holds the objects as files, so that a test sees what is in it past its HTTP.
///
/// It verifies signatures.
public final class S3Store: Sendable {
    /// The port it listens on.
    public let port: Int
    /// The bucket there is.
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
    /// - Throws: ``HarnessError``, saying how to get the store if it is not there.
    public static func start() async throws -> S3Store {
        let store = S3Store(port: try freePort())
        try FileManager.default.createDirectory(
            atPath: store.folder,
            withIntermediateDirectories: true
        )
        try await store.restart()
        return store
    }

    /// Where it is asked.
    public var endpoint: String { "http://127.0.0.1:\(port)" }

    /// Where the objects are.
    private var folder: String { "\(directory)/objects/\(bucket)" }

    /// The objects, by name.
    public func objects() throws -> [String: [UInt8]] {
        var objects: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            let path = "\(folder)/\(name)"
            // What is a folder has no contents; a file may have been removed since.
            objects[name] = FileManager.default.contents(atPath: path).map { Array($0) }
        }
        return objects
    }

    /// Writes an object past the store; `nil` removes it.
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

    /// Ends it, in the middle of whatever it does.
    public func kill() async {
        guard let child = process.withLock({ $0.take() }) else { return }
        child.send(SIGKILL)
        _ = await child.exit()
    }

    /// Starts it again on the same port, with the objects that there were.
    public func restart() async throws {
        await kill()
        let logPath = "\(directory)/log"
        let child = try await ChildProcess.start(
            try Self.executable(),
            [
                "serve", "s3", "\(directory)/objects", "--addr", "127.0.0.1:\(port)", "--config",
                "",
                // What a test writes past it is seen at once.
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

    /// The store's executable: `COUNTERFOIL_RCLONE`, or where `make setup` puts it.
    private static func executable() throws -> String {
        if let path = ProcessInfo.processInfo.environment["COUNTERFOIL_RCLONE"] { return path }
        let path = SourceTree.path(".deps/bin/rclone")
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw HarnessError("The S3 store of the tests is not at \(path); run `make setup`.")
        }
        return path
    }
}

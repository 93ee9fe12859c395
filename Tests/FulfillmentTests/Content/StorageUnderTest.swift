import ClockAndIDs
import EventTypes
import Foundation
import NIOCore
import TestSupport

@testable import Fulfillment

/// The kinds of storage, which behave the same.
enum ContentForm: CaseIterable, Sendable {
    case disk
    case s3
}

/// A storage of contents for one test, with access to its files and objects that bypasses its code.
struct StorageUnderTest: Sendable {
    /// The directory of contents or of waiting uploads.
    let folder = ContentFolder()
    let storage: any ContentStorage
    /// The S3 store and the prefix of its names.
    private let store: (store: S3Store, prefix: String)?

    private init(_ form: ContentForm) async throws {
        switch form {
        case .disk:
            storage = DiskContentStorage(directory: folder.path)
            store = nil
        case .s3:
            let prefix = UUID().uuidString.lowercased() + "/"
            let s3 = try await SharedS3Store.shared.started()
            storage = S3ContentStorage(s3, prefix: prefix, spool: folder.path)
            store = (s3, prefix)
        }
    }

    /// Runs a test with a storage, which is removed afterwards.
    static func with<R>(
        _ form: ContentForm,
        _ body: (StorageUnderTest) async throws -> R
    ) async throws -> R {
        let place = try await StorageUnderTest(form)
        defer { place.folder.remove() }
        return try await using(place.storage) { _ in try await body(place) }
    }

    /// Returns the kept contents by digest.
    func stored() throws -> [String: [UInt8]] {
        guard let store else { return try folder.files().filter { !$0.key.contains(".") } }
        var kept: [String: [UInt8]] = [:]
        for (name, bytes) in try store.store.objects() where name.hasPrefix(store.prefix) {
            kept[String(name.dropFirst(store.prefix.count))] = bytes
        }
        return kept
    }

    /// Returns the waiting uploads by name.
    func waiting() throws -> [String: [UInt8]] {
        try folder.files().filter { $0.key.contains(".") }
    }

    /// Replaces the bytes of a content, or removes them if `bytes` is `nil`.
    func write(_ bytes: [UInt8]?, as digest: ContentDigest) throws {
        if let store { return try store.store.write(bytes, as: store.prefix + digest.rawValue) }
        guard let bytes else {
            return try FileManager.default.removeItem(atPath: "\(folder.path)/\(digest)")
        }
        try folder.write(bytes, as: [digest.rawValue])
    }
}

/// The S3 store that all tests of this process share.
private actor SharedS3Store {
    static let shared = SharedS3Store()
    private var starting: Task<S3Store, any Error>?

    func started() async throws -> S3Store {
        let task = starting ?? Task { try await S3Store.start() }
        starting = task
        return try await task.value
    }
}

/// Runs a test with a storage, which is shut down afterwards, even if the test throws.
func using<R>(
    _ storage: any ContentStorage,
    _ body: (any ContentStorage) async throws -> R
) async throws -> R {
    do {
        let result = try await body(storage)
        await storage.shutDown()
        return result
    } catch {
        await storage.shutDown()
        throw error
    }
}

extension S3ContentStorage {
    /// Creates a storage in a test's S3 store.
    init(
        _ store: S3Store,
        endpoint: String? = nil,
        bucket: String? = nil,
        accessKey: String? = nil,
        secretKey: String? = nil,
        prefix: String = "",
        removalMax: Duration = .seconds(120),
        spool: String
    ) {
        self.init(
            S3Settings(
                endpoint: endpoint ?? store.endpoint,
                bucket: bucket ?? store.bucket,
                region: "us-east-1",
                prefix: prefix,
                accessKey: accessKey ?? store.accessKey,
                secretKey: secretKey ?? store.secretKey,
                timeout: .seconds(60),
                connectionsMax: 16,
                removalMax: removalMax
            ),
            spool: spool,
            now: MachineTime.now,
            logger: quiet
        )
    }
}

/// A temporary directory for contents.
struct ContentFolder: Sendable {
    var path = NSTemporaryDirectory() + "/counterfoil-content-" + UUID().uuidString

    /// Returns the files by name.
    func files() throws -> [String: [UInt8]] {
        guard FileManager.default.fileExists(atPath: path) else { return [:] }
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            // The file may have been renamed since.
            files[name] = FileManager.default.contents(atPath: path + "/" + name).map { Array($0) }
        }
        return files
    }

    /// Writes one file with several names.
    func write(_ bytes: [UInt8], as names: [String]) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let first = path + "/" + names[0]
        try Data(bytes).write(to: URL(fileURLWithPath: first))
        for name in names.dropFirst() {
            try FileManager.default.linkItem(atPath: first, toPath: path + "/" + name)
        }
    }

    func remove() {
        // A missing directory is fine.
        try? FileManager.default.removeItem(atPath: path)
    }
}

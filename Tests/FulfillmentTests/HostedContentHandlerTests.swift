import EventTypes
import Foundation
import NIOCore
import StoreAPI
import Testing
import TestSupport

@testable import Fulfillment

@Suite("Hosted contents", .timeLimit(.minutes(2)))
struct HostedContentHandlerTests {
    private let level = ProductID(unchecked: "level.1")
    private let bytes = Array("the first level".utf8)

    /// Runs a test with a directory for the contents.
    private func withContents(
        _ body: @Sendable @escaping (FulfillmentDatabase, ContentFolder) async throws -> Void
    ) async throws {
        try await withFulfillment { store in
            let folder = ContentFolder()
            defer { folder.remove() }
            try await body(store, folder)
        }
    }

    private func upload(
        _ bytes: [UInt8],
        version: String = "1.0",
        of product: String = "level.1",
        digest: ContentDigest? = nil,
        to contents: HostedContentHandler
    ) async throws -> ContentUploadOutcome {
        try await contents.upload(
            ContentUpload(
                productID: ProductID(unchecked: product),
                version: ContentVersion(unchecked: version),
                length: Int64(bytes.count),
                digest: digest
            ),
            from: pieces(of: bytes)
        )
    }

    /// The bytes in pieces of three.
    private func pieces(of bytes: [UInt8]) -> AsyncStream<ByteBuffer> {
        AsyncStream { continuation in
            for start in stride(from: 0, to: bytes.count, by: 3) {
                continuation.yield(ByteBuffer(bytes: bytes[start...].prefix(3)))
            }
            continuation.finish()
        }
    }

    @Test("An upload is a file named by its digest, and a version on record")
    func uploadIsStored() async throws {
        try await withContents { store, folder in
            let contents = store.contents(in: folder.path)
            let sample = HostedContent.sample(bytes: bytes)
            let outcome = try await upload(bytes, digest: sample.sha256, to: contents)
            let version = HostedContentVersion(
                version: sample.version,
                length: 15,
                sha256: sample.sha256,
                createdAt: startOfTime
            )
            #expect(outcome == .recorded(.new(version)))
            #expect(try folder.files() == [sample.sha256.rawValue: bytes])
            #expect(try await contents.versions(of: level) == [version])
        }
    }

    @Test("A repeated upload changes nothing, restores a lost file, and offers again")
    func uploadMayBeRepeated() async throws {
        try await withContents { store, folder in
            let contents = store.contents(in: folder.path)
            let first = try await upload(bytes, to: contents)
            guard case .recorded(.new(let version)) = first else {
                Issue.record("the first upload was \(first)")
                return
            }
            store.clock.advance(by: .seconds(5))
            try await #expect(contents.withdraw(version.version, of: level)?.withdrawnAt != nil)
            folder.remove()
            #expect(try await upload(bytes, to: contents) == .recorded(.known(version)))
            #expect(try folder.files() == [version.sha256.rawValue: bytes])
            #expect(try await contents.versions(of: level) == [version])
        }
    }

    @Test("A version is one content: other bytes under its name are refused")
    func versionIsOneContent() async throws {
        try await withContents { store, folder in
            let contents = store.contents(in: folder.path)
            _ = try await upload(bytes, to: contents)
            #expect(try await upload([1, 2, 3], to: contents) == .recorded(.taken))
            #expect(try await contents.versions(of: level).map(\.length) == [15])
            // What the refused upload left is found, because no version has it.
            #expect(try await contents.removeLeftovers() == 1)
            #expect(try folder.files().count == 1)
            // Under another name it is another version, and under another product nobody's concern.
            #expect(try await upload([1, 2, 3], version: "1.1", to: contents).isNew)
            #expect(try await upload([1, 2, 3], of: "level.2", to: contents).isNew)
            #expect(try folder.files().count == 2)
        }
    }

    @Test("Bytes that are not those of the digest, or not as many, leave nothing")
    func wrongBytesLeaveNothing() async throws {
        try await withContents { store, folder in
            let contents = store.contents(in: folder.path)
            let other = HostedContent.sample(bytes: [0]).sha256
            #expect(try await upload(bytes, digest: other, to: contents) == .digestDiffers)
            let short = try await contents.upload(
                ContentUpload(
                    productID: level,
                    version: ContentVersion(unchecked: "1.0"),
                    length: 16,
                    digest: nil
                ),
                from: pieces(of: bytes)
            )
            #expect(short == .incomplete)
            #expect(try folder.files().isEmpty)
            #expect(try await contents.versions(of: level).isEmpty)
        }
    }

    @Test("An upload that breaks off leaves nothing")
    func brokenUploadLeavesNothing() async throws {
        struct Broken: Error {}
        try await withContents { store, folder in
            let contents = store.contents(in: folder.path)
            let (pieces, sender) = AsyncThrowingStream<ByteBuffer, any Error>.makeStream()
            sender.yield(ByteBuffer(bytes: bytes))
            sender.finish(throwing: Broken())
            await #expect(throws: Broken.self) {
                try await contents.upload(
                    ContentUpload(
                        productID: level,
                        version: ContentVersion(unchecked: "1.0"),
                        length: 15,
                        digest: nil
                    ),
                    from: pieces
                )
            }
            let files = try folder.files()
            #expect(files.isEmpty)
        }
    }

    @Test("An upload in progress is left alone, by whoever cleans up")
    func livingUploadIsLeftAlone() async throws {
        try await withContents { store, folder in
            let contents = store.contents(in: folder.path)
            let (pieces, sender) = AsyncStream<ByteBuffer>.makeStream()
            sender.yield(ByteBuffer(bytes: bytes))
            async let outcome = contents.upload(
                ContentUpload(
                    productID: level,
                    version: ContentVersion(unchecked: "1.0"),
                    length: 15,
                    digest: nil
                ),
                from: pieces
            )
            try await eventually("the upload to have begun") {
                try folder.files().values.contains(bytes) ? true : nil
            }
            #expect(try await store.contents(in: folder.path).removeLeftovers() == 0)
            sender.finish()
            #expect(try await outcome.isNew)
            #expect(try folder.files().count == 1)
        }
    }

    /// What a process leaves that is killed between two steps of an upload: the names of one file.
    @Test(
        "What a killed upload left is removed at the next start",
        arguments: [
            ["x.upload"], ["DIGEST.x.upload"], ["DIGEST.x.upload", "x.link"],
            ["DIGEST.x.upload", "DIGEST"],
        ]
    )
    func killedUploadIsCleanedUp(names: [String]) async throws {
        try await withContents { store, folder in
            let contents = store.contents(in: folder.path)
            _ = try await upload([1, 2, 3], version: "0.9", to: contents)
            let digest = HostedContent.sample(bytes: bytes).sha256.rawValue
            try folder.write(bytes, as: names.map { $0.replacing("DIGEST", with: digest) })
            #expect(try await contents.removeLeftovers() == names.count { $0.contains(".") })
            #expect(Array(try folder.files().values) == [[1, 2, 3]])
        }
    }

    @Test("What was killed after it was on record stays")
    func recordedContentStays() async throws {
        try await withContents { store, folder in
            let contents = store.contents(in: folder.path)
            _ = try await upload(bytes, to: contents)
            let digest = HostedContent.sample(bytes: bytes).sha256.rawValue
            try FileManager.default.linkItem(
                atPath: folder.path + "/" + digest,
                toPath: folder.path + "/\(digest).x.upload"
            )
            #expect(try await contents.removeLeftovers() == 1)
            #expect(try folder.files() == [digest: bytes])
        }
    }

    @Test("A file that replaced what a killed upload kept is not that upload's to remove")
    func replacedFileStays() async throws {
        try await withContents { store, folder in
            let digest = HostedContent.sample(bytes: bytes).sha256.rawValue
            try folder.write(bytes, as: ["\(digest).x.upload"])
            // Another instance's upload of the same bytes, which is not on record yet.
            try folder.write(bytes, as: [digest])
            #expect(try await store.contents(in: folder.path).removeLeftovers() == 1)
            #expect(try folder.files() == [digest: bytes])
        }
    }

    @Test("Files that no upload left are never removed, whatever the database knows")
    func otherFilesStay() async throws {
        try await withContents { store, folder in
            let digest = HostedContent.sample(bytes: bytes).sha256.rawValue
            try folder.write(bytes, as: [digest])
            try folder.write(bytes, as: ["notes.txt"])
            #expect(try await store.contents(in: folder.path).removeLeftovers() == 0)
            #expect(try folder.files().count == 2)
        }
    }

    @Test("A directory that cannot be written is a failure with its reason")
    func unusableDirectory() async throws {
        try await withContents { store, folder in
            try folder.write(bytes, as: ["file"])
            let contents = store.contents(in: folder.path + "/file/content")
            let error = await #expect(throws: ContentStorageError.self) {
                try await upload(bytes, to: contents)
            }
            #expect(error?.code == .unusable)
            #expect(error?.message.contains("/file/content") == true)
        }
    }
}

/// A temporary directory of contents.
struct ContentFolder: Sendable {
    var path = NSTemporaryDirectory() + "/counterfoil-content-" + UUID().uuidString

    /// The files, by name.
    func files() throws -> [String: [UInt8]] {
        guard FileManager.default.fileExists(atPath: path) else { return [:] }
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            // It may have been renamed since.
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
        // One that is gone already is what is wanted.
        try? FileManager.default.removeItem(atPath: path)
    }
}

extension ContentUploadOutcome {
    fileprivate var isNew: Bool {
        if case .recorded(.new) = self { true } else { false }
    }
}

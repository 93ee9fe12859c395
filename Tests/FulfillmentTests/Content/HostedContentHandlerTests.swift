import EventTypes
import Foundation
import NIOCore
import StoreAPI
import Synchronization
import Testing
import TestSupport

@testable import Fulfillment

@Suite(.timeLimit(.minutes(10)))
struct HostedContentHandlerTests {
    private struct Broken: Error {}

    private let level = ProductID(unchecked: "level.1")
    private let bytes = Array("the first level".utf8)

    @Test(arguments: ContentForm.allCases)
    func anUploadIsStoredUnderItsDigestAndItsVersionRecorded(form: ContentForm) async throws {
        try await withContents(form) { store, place in
            let contents = store.contents(place.storage)
            let sample = HostedContent.sample(bytes: bytes)
            let outcome = try await contents.upload(bytes, digest: sample.sha256)
            let version = HostedContentVersion(
                version: sample.version,
                length: 15,
                sha256: sample.sha256,
                createdAt: startOfTime
            )
            #expect(outcome == .recorded(.new(version)))
            #expect(try place.stored() == [sample.sha256.rawValue: bytes])
            #expect(try place.waiting().isEmpty)
            #expect(try await contents.versions(of: level) == [version])
            #expect(try await store.contentUploads() == 0)
        }
    }

    @Test(arguments: ContentForm.allCases)
    func aRepeatedUploadChangesNothingRestoresALostFileAndOffersAgain(form: ContentForm)
        async throws
    {
        try await withContents(form) { store, place in
            let contents = store.contents(place.storage)
            let first = try await contents.upload(bytes)
            guard case .recorded(.new(let version)) = first else {
                Issue.record("the first upload was \(first)")
                return
            }
            store.clock.advance(by: .seconds(5))
            try await #expect(contents.withdraw(version.version, of: level)?.withdrawnAt != nil)
            for damage in [nil, [1, 2, 3] as [UInt8]] {
                try place.write(damage, as: version.sha256)
                #expect(try await contents.upload(bytes) == .recorded(.known(version)))
                #expect(try place.stored() == [version.sha256.rawValue: bytes])
            }
            #expect(try await contents.versions(of: level) == [version])
        }
    }

    @Test(arguments: ContentForm.allCases)
    func otherBytesUnderAVersionsNameAreRefusedAndNotStored(form: ContentForm) async throws {
        try await withContents(form) { store, place in
            let contents = store.contents(place.storage)
            _ = try await contents.upload(bytes)
            #expect(try await contents.upload([1, 2, 3]) == .recorded(.taken))
            #expect(try await contents.versions(of: level).map(\.length) == [15])
            #expect(try place.stored().count == 1)
            #expect(try place.waiting().isEmpty)
            // With another version or product, the same bytes are a new content.
            #expect(try await contents.upload([1, 2, 3], version: "1.1").isNew)
            #expect(try await contents.upload([1, 2, 3], of: "level.2").isNew)
            #expect(try place.stored().count == 2)
        }
    }

    @Test(arguments: ContentForm.allCases)
    func bytesThatAreNotThoseOfTheDigestOrNotAsManyLeaveNothing(form: ContentForm) async throws {
        try await withContents(form) { store, place in
            let contents = store.contents(place.storage)
            let other = HostedContent.sample(bytes: [0]).sha256
            #expect(try await contents.upload(bytes, digest: other) == .digestDiffers)
            for length: Int64 in [14, 16] {
                let outcome = try await contents.upload(
                    .sample(length: length),
                    from: pieces(of: bytes)
                )
                #expect(outcome == .incomplete)
            }
            #expect(try place.stored().isEmpty)
            #expect(try place.waiting().isEmpty)
            #expect(try await contents.versions(of: level).isEmpty)
            #expect(try await store.contentUploads() == 0)
        }
    }

    @Test func aBodyThatGoesOnAndOnIsStoppedOnceItIsLongerThanItSaid() async throws {
        try await withContents(.disk) { store, place in
            let asked = Mutex(0)
            let endless = AsyncStream<ByteBuffer> {
                asked.withLock { $0 += 1 }
                return ByteBuffer(bytes: [1, 2, 3])
            }
            let outcome = try await store.contents(place.storage)
                .upload(.sample(length: 10), from: endless)
            #expect(outcome == .incomplete)
            #expect(asked.withLock { $0 } == 4)
            #expect(try place.waiting().isEmpty)
        }
    }

    @Test func anUploadThatBreaksOffOrWhoseTaskEndsLeavesNothing() async throws {
        try await withContents(.disk) { store, place in
            let contents = store.contents(place.storage)
            for failure in [Broken(), CancellationError()] as [any Error] {
                let (pieces, sender) = AsyncThrowingStream<ByteBuffer, any Error>.makeStream()
                sender.yield(ByteBuffer(bytes: bytes))
                let upload = Task { try await contents.upload(.sample(length: 16), from: pieces) }
                try await eventually("the upload to have begun") {
                    try place.waiting().values.contains(bytes) ? true : nil
                }
                if failure is CancellationError {
                    // When its reader's task is cancelled, the stream ends one byte short.
                    upload.cancel()
                    _ = try? await upload.value
                } else {
                    sender.finish(throwing: failure)
                    await #expect(throws: Broken.self) { try await upload.value }
                }
                let waiting = try place.waiting()
                #expect(waiting.isEmpty)
            }
        }
    }

    @Test(arguments: ContentForm.allCases)
    func aStorageThatFailsToStoreLeavesNoUploadBehind(form: ContentForm) async throws {
        try await withContents(form) { store, place in
            let storage = StoppedStorage(storage: place.storage, afterKeep: { throw Broken() })
            await #expect(throws: Broken.self) {
                try await store.contents(storage).upload(bytes)
            }
            let versions = try await store.contents(storage).versions(of: level)
            #expect(versions.isEmpty)
            #expect(try place.waiting().isEmpty)
        }
    }

    @Test func aDirectoryThatIsNotThereIsMadeWithThoseAboveIt() async throws {
        try await withContents(.disk) { store, place in
            let storage = DiskContentStorage(directory: place.folder.path + "/a/b/c")
            let outcome = try await store.contents(storage).upload(bytes)
            #expect(outcome.isNew)
            #expect(try ContentFolder(path: storage.directory).files().count == 1)
        }
    }

    @Test func aDirectoryThatCannotBeWrittenIsAFailureWithItsReason() async throws {
        try await withContents(.disk) { store, place in
            try place.folder.write(bytes, as: ["file"])
            for directory in ["/file", "/file/content"] {
                let storage = DiskContentStorage(directory: place.folder.path + directory)
                let error = await #expect(throws: ContentStorageError.self) {
                    try await store.contents(storage).upload(bytes)
                }
                #expect(error?.code == .unusable)
                #expect(error?.message.contains("/file") == true)
            }
        }
    }
}

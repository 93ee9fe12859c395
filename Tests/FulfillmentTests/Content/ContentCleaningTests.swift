import EventTypes
import Foundation
import NIOCore
import ServiceLifecycle
import Testing
import TestSupport

@testable import Fulfillment

@Suite(.timeLimit(.minutes(10)))
struct ContentCleaningTests {
    private struct Killed: Error {}

    private let bytes = Array("the first level".utf8)
    private var digest: ContentDigest { HostedContent.sample(bytes: bytes).sha256 }
    /// A time longer than an upload's lease.
    private let longTime = HostedContentHandler.lease + .seconds(1)

    /// Leaves the remains of a process that is killed after it has kept the bytes.
    private func killUpload(
        _ store: FulfillmentDatabase,
        _ place: StorageUnderTest,
        _ bytes: [UInt8] = Array("the first level".utf8)
    ) async throws {
        let storage = StoppedStorage(storage: place.storage, afterKeep: { throw Killed() })
        await #expect(throws: Killed.self) { try await store.contents(storage).upload(bytes) }
        let digest = HostedContent.sample(bytes: bytes).sha256
        let kept = try place.stored()
        #expect(kept[digest.rawValue] == bytes)
    }

    @Test func anUploadInProgressIsLeftAloneByWhoeverCleansUp() async throws {
        try await withContents(.disk) { store, place in
            let contents = store.contents(place.storage)
            let (pieces, sender) = AsyncStream<ByteBuffer>.makeStream()
            sender.yield(ByteBuffer(bytes: bytes))
            async let outcome = contents.upload(.sample(length: 15), from: pieces)
            try await eventually("the upload to have begun") {
                try place.waiting().values.contains(bytes) ? true : nil
            }
            let other = store.contents(DiskContentStorage(directory: place.folder.path))
            #expect(try await other.removeLeftovers() == 0)
            sender.finish()
            #expect(try await outcome.isNew)
            #expect(try place.stored().count == 1)
        }
    }

    @Test(arguments: [["x.upload"], ["x.upload", "x.upload.link"], ["x.upload.link", "DIGEST"]]
    )
    func whatWaitedWhenItsProcessWasKilledIsRemoved(names: [String]) async throws {
        try await withContents(.disk) { store, place in
            let contents = store.contents(place.storage)
            _ = try await contents.upload([1, 2, 3], version: "0.9")
            try place.folder.write(
                bytes,
                as: names.map { $0.replacing("DIGEST", with: digest.rawValue) }
            )
            #expect(try await contents.removeLeftovers() == names.count { $0.contains(".") })
            #expect(try place.waiting().isEmpty)
            // Bytes that no upload was about to keep are not removed, whatever the database has.
            #expect(try place.stored().count == (names.contains("DIGEST") ? 2 : 1))
        }
    }

    @Test func filesThatNoUploadLeftAreNeverRemoved() async throws {
        try await withContents(.disk) { store, place in
            try place.folder.write(bytes, as: [digest.rawValue])
            try place.folder.write(bytes, as: ["notes.txt"])
            store.clock.advance(by: longTime)
            #expect(try await store.contents(place.storage).removeLeftovers() == 0)
            #expect(try place.folder.files().count == 2)
        }
    }

    @Test(arguments: ContentForm.allCases)
    func anUnrecordedContentIsRemovedOnceItsTimeIsOver(form: ContentForm)
        async throws
    {
        try await withContents(form) { store, place in
            try await killUpload(store, place)
            try await killUpload(store, place, [1, 2, 3])
            let contents = store.contents(place.storage)
            #expect(try await contents.removeLeftovers() == 0)
            #expect(try place.stored().count == 2)
            store.clock.advance(by: longTime)
            #expect(try await contents.removeLeftovers() == 2)
            #expect(try place.stored().isEmpty)
            #expect(try await store.contentUploads() == 0)
            #expect(try await contents.removeLeftovers() == 0)
        }
    }

    @Test(arguments: ContentForm.allCases)
    func whatWasKilledAndThenUploadedAgainStays(form: ContentForm) async throws {
        try await withContents(form) { store, place in
            let contents = store.contents(place.storage)
            try await killUpload(store, place)
            #expect(try await contents.upload(bytes).isNew)
            // Once more, with bytes that are recorded already.
            try await killUpload(store, place)
            store.clock.advance(by: longTime)
            #expect(try await contents.removeLeftovers() == 0)
            #expect(try place.stored() == [digest.rawValue: bytes])
            #expect(try await store.contentUploads() == 0)
        }
    }

    @Test(arguments: ContentForm.allCases)
    func bytesThatAreBeingRemovedAreNotTakenInBeforeTheyAreGone(form: ContentForm) async throws {
        try await withContents(form) { store, place in
            try await killUpload(store, place)
            store.clock.advance(by: longTime)
            let stop = Stop()
            let cleaner = store.contents(
                StoppedStorage(storage: place.storage, beforeRemove: { await stop.pass() })
            )
            async let removed = cleaner.removeLeftovers()
            try await stop.reached()
            let contents = store.contents(place.storage)
            let error = await #expect(throws: ContentStorageError.self) {
                try await contents.upload(bytes)
            }
            #expect(error?.code == .removing && error?.isRetriable == true)
            // No other cleaner removes it meanwhile.
            #expect(try await contents.removeLeftovers() == 0)
            await stop.open()
            #expect(try await removed == 1)
            #expect(try await contents.upload(bytes).isNew)
            #expect(try await contents.removeLeftovers() == 0)
            #expect(try place.stored() == [digest.rawValue: bytes])
        }
    }

    @Test(arguments: ContentForm.allCases)
    func aRemovalWhoseProcessIsKilledIsTakenOver(form: ContentForm) async throws {
        try await withContents(form) { store, place in
            try await killUpload(store, place)
            store.clock.advance(by: longTime)
            let killed = StoppedStorage(storage: place.storage, beforeRemove: { throw Killed() })
            await #expect(throws: Killed.self) {
                try await store.contents(killed).removeLeftovers()
            }
            let contents = store.contents(place.storage)
            #expect(try await contents.removeLeftovers() == 0)
            store.clock.advance(by: HostedContentHandler.removalLease + .seconds(1))
            #expect(try await contents.removeLeftovers() == 1)
            #expect(try place.stored().isEmpty)
            #expect(try await contents.upload(bytes).isNew)
        }
    }

    @Test(arguments: ContentForm.allCases)
    func anUploadWhoseBytesWereRemovedBeforeItsRowStoresThemAgain(form: ContentForm) async throws {
        try await withContents(form) { store, place in
            let stop = Stop()
            let slow = store.contents(
                StoppedStorage(storage: place.storage, afterKeep: { await stop.pass() })
            )
            async let outcome = slow.upload(bytes)
            try await stop.reached()
            store.clock.advance(by: longTime)
            let contents = store.contents(place.storage)
            #expect(try await contents.removeLeftovers() == 1)
            #expect(try place.stored().isEmpty)
            await stop.open()
            #expect(try await outcome.isNew)
            #expect(try place.stored() == [digest.rawValue: bytes])
        }
    }

    @Test(arguments: ContentForm.allCases)
    func ofTwoUploadsOfTheSameBytesAtOnceBothAreOnRecord(form: ContentForm) async throws {
        try await withContents(form) { store, place in
            let stop = Stop()
            let slow = store.contents(
                StoppedStorage(storage: place.storage, afterKeep: { await stop.pass() })
            )
            async let second = slow.upload(bytes, of: "level.2")
            try await stop.reached()
            #expect(try await store.contents(place.storage).upload(bytes).isNew)
            await stop.open()
            #expect(try await second.isNew)
            store.clock.advance(by: longTime)
            #expect(try await slow.removeLeftovers() == 0)
            #expect(try place.stored() == [digest.rawValue: bytes])
        }
    }

    @Test func aRunningServiceCleansUpFromTimeToTime() async throws {
        try await withContents(.disk) { store, place in
            let cleaning = HostedContentCleaning(
                handler: store.contents(place.storage),
                interval: .milliseconds(50),
                logger: quiet
            )
            let group = ServiceGroup(services: [cleaning], logger: quiet)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                for _ in 1...2 {
                    try place.folder.write(bytes, as: ["x.upload"])
                    try await eventually("what was left to be removed") {
                        try place.waiting().isEmpty ? true : nil
                    }
                }
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
        }
    }
}

import EventTypes
import NIOCore
import TestSupport

@testable import Fulfillment

/// A storage that a test can stop at three points and observe at a fourth.
struct StoppedStorage: ContentStorage {
    let storage: any ContentStorage
    var beforeKeep: @Sendable () async throws -> Void = {}
    var afterKeep: @Sendable () async throws -> Void = {}
    var beforeRemove: @Sendable () async throws -> Void = {}
    /// Called with the number of bytes that are passed on.
    var onRead: @Sendable (Int) -> Void = { _ in }

    private struct Received: ReceivedContent {
        let received: any ReceivedContent
        let beforeKeep: @Sendable () async throws -> Void
        let afterKeep: @Sendable () async throws -> Void

        var digest: ContentDigest { received.digest }
        var length: Int64 { received.length }

        func store() async throws {
            try await beforeKeep()
            try await received.store()
            try await afterKeep()
        }

        func discard() async throws { try await received.discard() }
    }

    private struct Reader: ContentReader {
        let reader: any ContentReader
        let onRead: @Sendable (Int) -> Void

        func read(_ write: (ByteBuffer) async throws -> Void) async throws {
            try await reader.read { bytes in
                onRead(bytes.readableBytes)
                try await write(bytes)
            }
        }
    }

    func check() async throws { try await storage.check() }

    func receive<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes
    ) async throws -> any ReceivedContent where Bytes.Element == ByteBuffer {
        Received(
            received: try await storage.receive(bytes),
            beforeKeep: beforeKeep,
            afterKeep: afterKeep
        )
    }

    func find(_ digest: ContentDigest, length: Int64) async throws {
        try await storage.find(digest, length: length)
    }

    func open(
        _ digest: ContentDigest,
        length: Int64,
        range: Range<Int64>
    ) async throws -> any ContentReader {
        let reader = try await storage.open(digest, length: length, range: range)
        return Reader(reader: reader, onRead: onRead)
    }

    func remove(_ digest: ContentDigest) async throws {
        try await beforeRemove()
        try await storage.remove(digest)
    }

    func removeLeftovers() async throws -> Int { try await storage.removeLeftovers() }

    func shutDown() async {}
}

/// A point at which all callers wait until the test lets them pass.
actor Stop {
    private var arrivals = 0
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Whether a caller has arrived.
    var isReached: Bool { arrivals > 0 }

    /// Waits.
    func pass() async {
        arrivals += 1
        guard !isOpen else { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    /// Returns once a caller has arrived.
    nonisolated func reached() async throws {
        try await eventually("somebody to come to the stop") { await self.isReached ? () : nil }
    }

    /// Lets all callers pass from now on.
    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}

/// A storage whose every operation fails.
struct FailingStorage: ContentStorage {
    let code: ContentStorageError.Code

    private var error: ContentStorageError { ContentStorageError(code, "as the test wants it") }

    func check() async throws { throw error }

    func receive<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes
    ) async throws -> any ReceivedContent where Bytes.Element == ByteBuffer {
        throw error
    }

    func find(_ digest: ContentDigest, length: Int64) async throws { throw error }

    func open(
        _ digest: ContentDigest,
        length: Int64,
        range: Range<Int64>
    ) async throws -> any ContentReader {
        throw error
    }

    func remove(_ digest: ContentDigest) async throws { throw error }

    func removeLeftovers() async throws -> Int { throw error }

    func shutDown() async {}
}

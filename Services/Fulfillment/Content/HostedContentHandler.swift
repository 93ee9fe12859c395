import EventTypes
import Foundation
import NIOCore
import Postgres
import StoreAPI

/// An administrator's upload of one version of a product's content.
struct ContentUpload: Hashable, Sendable {
    let productID: ProductID
    let version: ContentVersion
    /// The number of bytes that the sender announced.
    let length: Int64
    /// The digest that the sender announced, if any.
    let digest: ContentDigest?
}

/// The outcome of an upload.
enum ContentUploadOutcome: Hashable, Sendable {
    case recorded(HostedContentStore.Recording)
    /// The number of bytes differs from the announced one.
    case incomplete
    /// The bytes do not have the announced digest.
    case digestDiffers
}

/// Receives, lists, withdraws and hands out the contents hosted for products.
///
/// An upload's bytes are stored before its row is written, so every recorded content is stored.
/// ``ContentUploadStore`` protects an upload from the cleaning of another.
struct HostedContentHandler: Sendable {
    /// The lease of an upload that no longer renews it, for example because its process was killed.
    ///
    /// A running upload renews its lease, so storing its bytes may take longer.
    static let lease = Duration.seconds(600)
    /// The time that a removal has before another instance takes it over.
    ///
    /// It is longer than any removal takes (``S3Settings/removalMax``).
    static let removalLease = Duration.seconds(300)
    /// The number of times that an upload stores its bytes if they are removed meanwhile.
    private static let storesMax = 3

    let client: PostgresClient
    let storage: any ContentStorage
    let now: @Sendable () -> StoreTime
    let machineNow: @Sendable () -> MachineTime
    /// The interval at which an upload renews its lease.
    ///
    /// It is short enough that an outage of the database does not let the lease expire.
    var renewal = Duration.seconds(60)

    /// Stores one version.
    ///
    /// The same upload may be repeated. That also restores a lost file.
    func upload<Bytes: AsyncSequence & Sendable>(
        _ upload: ContentUpload,
        from bytes: Bytes
    ) async throws -> ContentUploadOutcome where Bytes.Element == ByteBuffer {
        let received: any ReceivedContent
        do {
            received = try await storage.receive(BoundedBytes(bytes: bytes, max: upload.length))
        } catch is BoundedBytes<Bytes>.Excess {
            return .incomplete
        }
        let outcome: Result<ContentUploadOutcome, any Error>
        do {
            outcome = .success(try await take(received, as: upload))
        } catch {
            outcome = .failure(error)
        }
        // The outcome decides. The next cleaning removes a file that remains.
        try? await received.discard()
        return try outcome.get()
    }

    private func take(
        _ received: any ReceivedContent,
        as upload: ContentUpload
    ) async throws -> ContentUploadOutcome {
        guard received.length == upload.length else { return .incomplete }
        guard upload.digest == nil || upload.digest == received.digest else {
            return .digestDiffers
        }
        let content = HostedContent(
            contentIdentifier: upload.productID,
            version: upload.version,
            length: received.length,
            sha256: received.digest
        )
        for _ in 1...Self.storesMax {
            guard let number = try await begin(content) else { return .recorded(.taken) }
            guard try await store(received, number) else { continue }
            if let recording = try await record(content, number) { return .recorded(recording) }
        }
        throw ContentStorageError(.removing, "\(content.sha256) is removed again and again")
    }

    /// Inserts the row of an upload whose bytes are about to be stored.
    ///
    /// - Returns: The number of the row, or `nil` if the version has other bytes, so that none are
    ///   stored in vain.
    private func begin(_ content: HostedContent) async throws -> Int64? {
        try await client.withTransaction { [machineNow] connection in
            let leaseEnd = machineNow().advanced(by: Self.lease)
            guard try !HostedContentStore.isTaken(content, on: connection) else { return nil }
            let digest = content.sha256
            let number = try ContentUploadStore.begin(digest, until: leaseEnd, on: connection)
            guard let number else {
                throw ContentStorageError(.removing, "\(digest) is being removed")
            }
            return number
        }
    }

    /// Stores bytes, and renews the upload's lease until they are stored.
    ///
    /// Writing a large content to a slow store takes hours. Without renewal it would be removed as
    /// the remains of a failed upload while it arrives.
    ///
    /// - Returns: Whether they are stored. If not, a cleaner is removing them or already has.
    private func store(_ received: any ReceivedContent, _ number: Int64) async throws -> Bool {
        enum End { case stored, recorded, lost }
        return try await withThrowingTaskGroup(of: End.self) { group in
            group.addTask {
                try await received.store()
                return .stored
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: renewal)
                    // Renewal lasts as long as the upload, not only as long as a request may wait.
                    let outcome = await PostgresWaitBudget.$current.withValue(nil) {
                        await renew(number, of: received.digest)
                    }
                    switch outcome {
                    case .renewed: continue
                    case .recorded: return .recorded
                    case .lost: return .lost
                    }
                }
            }
            // The remaining task is cancelled, and the group waits until it has ended.
            defer { group.cancelAll() }
            while let end = try await group.next() {
                switch end {
                case .stored: return true
                case .lost: return false
                // Another upload has recorded the same bytes, so they are safe.
                case .recorded: continue
                }
            }
            return false
        }
    }

    private func renew(
        _ number: Int64,
        of digest: ContentDigest
    ) async -> ContentUploadStore.Renewal {
        do {
            return try await client.withTransaction { [machineNow] connection in
                let leaseEnd = machineNow().advanced(by: Self.lease)
                return try ContentUploadStore.renew(
                    number,
                    of: digest,
                    until: leaseEnd,
                    on: connection
                )
            }
        } catch {
            // The next renewal tries again. A cleaner would need the same database.
            return .renewed
        }
    }

    /// Records bytes that were stored, or returns `nil` if they have been removed since.
    private func record(
        _ content: HostedContent,
        _ number: Int64
    ) async throws -> HostedContentStore.Recording? {
        let now = now()
        return try await client.withTransaction { connection in
            let digest = content.sha256
            guard try ContentUploadStore.exists(number, of: digest, on: connection) else {
                return nil
            }
            let recording = try HostedContentStore.record(content, now: now, on: connection)
            // If the version was recorded with other bytes, these may belong to nothing, so the
            // lease expires.
            if recording != .taken {
                try ContentUploadStore.end(number, of: digest, on: connection)
            }
            return recording
        }
    }

    /// Returns the contents that purchases of these products would currently get.
    func offered(of products: Set<ProductID>) async throws -> [OfferedContent] {
        let contents = try await client.withConnection { connection in
            try connection.read(HostedContentStore.offered(of: products))
        }
        return contents.sorted { $0.key < $1.key }.map { id, content in
            OfferedContent(productID: id, version: content.version, length: content.length)
        }
    }

    /// Returns the versions of a product's content, the newest first.
    func versions(of productID: ProductID) async throws -> [HostedContentVersion] {
        try await client.withConnection { connection in
            try HostedContentStore.versions(of: productID, on: connection)
        }
    }

    /// Withdraws a version from new purchases.
    ///
    /// Returns `nil` if it does not exist.
    func withdraw(
        _ version: ContentVersion,
        of productID: ProductID
    ) async throws -> HostedContentVersion? {
        let now = now()
        return try await client.withTransaction { connection in
            try HostedContentStore.withdraw(version, of: productID, now: now, on: connection)
        }
    }

    /// Decides a download.
    func download(
        _ identifier: ProductID,
        of id: TransactionID,
        from queue: QueueKey
    ) async throws -> HostedContentRules.Decision {
        let transaction = try await client.withConnection { connection in
            try connection.read(QueueStore.transactions([id]))[id]
        }
        let contents = try transaction?.contents.map {
            try JSONDecoder().decode([HostedContent].self, from: Data($0))
        }
        return HostedContentRules.download(
            identifier,
            of: transaction,
            carrying: contents ?? [],
            from: queue
        )
    }

    /// Checks that the content of a download exists in the storage.
    func find(_ content: HostedContent) async throws {
        try await storage.find(content.sha256, length: content.length)
    }

    /// Opens a part of the content of a download.
    func open(
        _ content: HostedContent,
        range: Range<Int64>
    ) async throws -> any ContentReader {
        try await storage.open(content.sha256, length: content.length, range: range)
    }

    /// Removes the remains of uploads that were killed or failed.
    ///
    /// - Returns: The number of uploads removed.
    func removeLeftovers() async throws -> Int {
        var count = try await storage.removeLeftovers()
        while let leftover = try await takeOverLeftover() {
            try await storage.remove(leftover.digest)
            try await client.withTransaction { connection in
                try ContentUploadStore.end(leftover.number, of: leftover.digest, on: connection)
            }
            count += 1
        }
        return count
    }

    private func takeOverLeftover() async throws -> ContentUploadStore.Leftover? {
        try await client.withTransaction { [machineNow] connection in
            let now = machineNow()
            return try ContentUploadStore.takeOver(
                at: now,
                until: now.advanced(by: Self.removalLease),
                on: connection
            )
        }
    }
}

/// The bytes of an upload.
///
/// The sequence fails as soon as there are more than announced.
private struct BoundedBytes<Bytes: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Bytes.Element == ByteBuffer {
    struct Excess: Error {}

    let bytes: Bytes
    let max: Int64

    struct AsyncIterator: AsyncIteratorProtocol {
        var bytes: Bytes.AsyncIterator
        var rest: Int64

        mutating func next() async throws -> ByteBuffer? {
            guard let part = try await bytes.next() else {
                // The stream also ends if its reader is cancelled. It need not be too short then.
                try Task.checkCancellation()
                return nil
            }
            rest -= Int64(part.readableBytes)
            guard rest >= 0 else { throw Excess() }
            return part
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(bytes: bytes.makeAsyncIterator(), rest: max)
    }
}

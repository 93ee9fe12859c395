import EventTypes
import Foundation
import NIOCore
import Postgres
import StoreAPI

/// One version of a product's content, as an administrator brings it.
struct ContentUpload: Hashable, Sendable {
    let productID: ProductID
    let version: ContentVersion
    /// How many bytes are said to come.
    let length: Int64
    /// What is said that they are, if anything.
    let digest: ContentDigest?
}

/// What an upload came to.
enum ContentUploadOutcome: Hashable, Sendable {
    case recorded(HostedContentStore.Recording)
    /// More or fewer bytes came than were said to.
    case incomplete
    /// The bytes are not those that were said to come.
    case digestDiffers
}

/// Takes in, lists, withdraws and hands out what is hosted for products.
///
/// An upload's bytes are stored first and its row is written after, so that what is on record is
/// stored. ``ContentUploadStore`` keeps an upload from those who clean up after another.
struct HostedContentHandler: Sendable {
    /// How long the word of an upload stands that says nothing more, such as one whose process was
    /// killed.
    ///
    /// One that lives renews it, so keeping its bytes may take longer.
    static let lease = Duration.seconds(600)
    /// How long a removal has until another instance takes it over; longer than any takes
    /// (``S3Settings/removalMax``).
    static let removalLease = Duration.seconds(300)
    /// How often an upload stores its bytes that were removed meanwhile.
    private static let keepsMax = 3

    let client: PostgresClient
    let storage: any ContentStorage
    let now: @Sendable () -> Timestamp
    /// After how long an upload renews its word: often enough that a database which is away for a
    /// while does not end it.
    var renewal = Duration.seconds(60)
    /// Told of each renewal that an upload has tried, before it acts on the result.
    var onRenewal: @Sendable (ContentUploadStore.Renewal) -> Void = { _ in }

    /// Takes in one version.
    ///
    /// The same upload may be repeated, which also restores a file that got lost.
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
        // Whatever came of it decides; what stays is found by the next cleaning.
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
        for _ in 1...Self.keepsMax {
            guard let number = try await begin(content) else { return .recorded(.taken) }
            guard try await keep(received, number) else { continue }
            if let recording = try await record(content, number) { return .recorded(recording) }
        }
        throw ContentStorageError(.removing, "\(content.sha256) is removed again and again")
    }

    /// Says that bytes are about to be kept.
    ///
    /// - Returns: The number of the word; `nil` if the version has other bytes, so that none are
    ///   stored for nothing.
    private func begin(_ content: HostedContent) async throws -> Int64? {
        try await client.withTransaction { [now] connection in
            let leaseEnd = now().advanced(by: Self.lease)
            guard try !HostedContentStore.isTaken(content, on: connection) else { return nil }
            let digest = content.sha256
            let number = try ContentUploadStore.begin(digest, until: leaseEnd, on: connection)
            guard let number else {
                throw ContentStorageError(.removing, "\(digest) is being removed")
            }
            return number
        }
    }

    /// Keeps bytes, and renews the word that they are about to be kept until they are.
    ///
    /// A large content takes hours to a slow store: without that it would be removed as a failed
    /// upload's while it arrives.
    ///
    /// - Returns: Whether they are kept; if not, somebody is removing them or has.
    private func keep(_ received: any ReceivedContent, _ number: Int64) async throws -> Bool {
        enum End { case kept, recorded, lost }
        return try await withThrowingTaskGroup(of: End.self) { group in
            group.addTask {
                try await received.keep()
                return .kept
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: renewal)
                    // It goes on for as long as the bytes do, not only as long as a request may wait.
                    let renewal = await PostgresWaitBudget.$current.withValue(nil) {
                        await renew(number, of: received.digest)
                    }
                    onRenewal(renewal)
                    switch renewal {
                    case .renewed: continue
                    case .recorded: return .recorded
                    case .lost: return .lost
                    }
                }
            }
            // What is not over by then is of no more use; the group waits until it has stopped.
            defer { group.cancelAll() }
            while let end = try await group.next() {
                switch end {
                case .kept: return true
                case .lost: return false
                // By another upload of the same bytes, which are safe with it.
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
            return try await client.withTransaction { [now] connection in
                let leaseEnd = now().advanced(by: Self.lease)
                return try ContentUploadStore.renew(
                    number,
                    of: digest,
                    until: leaseEnd,
                    on: connection
                )
            }
        } catch {
            // A database that is away is asked again; whoever would clean up needs it as well.
            return .renewed
        }
    }

    /// Records bytes that were kept; `nil` if they were removed since.
    private func record(
        _ content: HostedContent,
        _ number: Int64
    ) async throws -> HostedContentStore.Recording? {
        let now = now()
        return try await client.withTransaction { connection in
            let digest = content.sha256
            guard try ContentUploadStore.stands(number, of: digest, on: connection) else {
                return nil
            }
            let recording = try HostedContentStore.record(content, now: now, on: connection)
            // Bytes of a version that was taken meanwhile may be nobody's; their time runs out.
            if recording != .taken {
                try ContentUploadStore.end(number, of: digest, on: connection)
            }
            return recording
        }
    }

    /// What purchases of products would get at present, by product.
    func offered(of products: Set<ProductID>) async throws -> [OfferedContent] {
        let contents = try await client.withConnection { connection in
            try HostedContentStore.offered(of: products, on: connection)
        }
        return contents.sorted { $0.key < $1.key }.map { id, content in
            OfferedContent(productID: id, version: content.version, length: content.length)
        }
    }

    /// The versions of a product's content, the youngest first.
    func versions(of productID: ProductID) async throws -> [HostedContentVersion] {
        try await client.withConnection { connection in
            try HostedContentStore.versions(of: productID, on: connection)
        }
    }

    /// Withdraws a version from new purchases; `nil` if there is none.
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
            try QueueStore.transactions([id], on: connection)[id]
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

    /// Finds what a download was decided to be.
    func find(_ content: HostedContent) async throws {
        try await storage.find(content.sha256, length: content.length)
    }

    /// Opens a part of what a download was decided to be.
    func open(
        _ content: HostedContent,
        range: Range<Int64>
    ) async throws -> any ContentReader {
        try await storage.open(content.sha256, length: content.length, range: range)
    }

    /// Removes what uploads left that were killed or failed.
    ///
    /// - Returns: How much it was.
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
        try await client.withTransaction { [now] connection in
            let now = now()
            return try ContentUploadStore.takeOver(
                at: now,
                until: now.advanced(by: Self.removalLease),
                on: connection
            )
        }
    }
}

/// The bytes of an upload, which are over as soon as there are more than it announced.
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
                // It also ends where its reader is cancelled, and is not known to be short then.
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

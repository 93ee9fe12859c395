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
/// An upload is a file first and a row after, so that what is on record is on the disk.
struct HostedContentHandler: Sendable {
    let client: PostgresClient
    let storage: any ContentStorage
    let now: @Sendable () -> Timestamp

    /// Takes in one version.
    ///
    /// The same upload may be repeated, which also restores a file that got lost.
    func upload<Bytes: AsyncSequence & Sendable>(
        _ upload: ContentUpload,
        from bytes: Bytes
    ) async throws -> ContentUploadOutcome where Bytes.Element == ByteBuffer {
        let received = try await storage.receive(bytes)
        do {
            return try await take(received, as: upload)
        } catch {
            // The first failure is the one to tell of; what stays is found at the next start.
            try? await received.discard()
            throw error
        }
    }

    private func take(
        _ received: any ReceivedContent,
        as upload: ContentUpload
    ) async throws -> ContentUploadOutcome {
        guard received.length == upload.length else {
            try await received.discard()
            return .incomplete
        }
        guard upload.digest == nil || upload.digest == received.digest else {
            try await received.discard()
            return .digestDiffers
        }
        let now = now()
        let content = HostedContent(
            contentIdentifier: upload.productID,
            version: upload.version,
            length: received.length,
            sha256: received.digest
        )
        try await received.keep()
        let recording = try await client.withTransaction { connection in
            try HostedContentStore.record(content, now: now, on: connection)
        }
        guard recording != .taken else {
            try await received.discard()
            return .recorded(.taken)
        }
        // Another instance may have cleaned up after a crash in this very moment, and taken the
        // equal file of that crash for this one. The sender is told to try again then.
        _ = try await storage.open(content.sha256, length: content.length)
        try await received.settle()
        return .recorded(recording)
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

    /// Opens what a download was decided to be.
    func open(_ content: HostedContent) async throws -> any ContentReader {
        try await storage.open(content.sha256, length: content.length)
    }

    /// Removes what uploads left that were killed.
    ///
    /// - Returns: How much it was.
    func removeLeftovers() async throws -> Int {
        try await storage.removeLeftovers { digest in
            try await client.withConnection { try HostedContentStore.isKnown(digest, on: $0) }
        }
    }
}

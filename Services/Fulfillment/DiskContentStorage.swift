import Crypto
import EventTypes
import Foundation
import NIOCore

/// Contents as files of one directory, which several instances may share.
///
/// A content's file is named by its digest. Beside it, until the content is on record, the same file
/// has a second name, `<digest>.<random>.upload`: from that a later start knows that it has to ask
/// the database about it. No other file of a digest's name is ever removed, so an instance that is
/// started with the wrong database destroys nothing.
struct DiskContentStorage: ContentStorage {
    let directory: String

    private static let uploadSuffix = ".upload"
    private static let linkSuffix = ".link"

    func receive<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes
    ) async throws -> any ReceivedContent where Bytes.Element == ByteBuffer {
        try await ContentDirectory.create(directory)
        let name = UUID().uuidString.lowercased()
        let path = path(name + Self.uploadSuffix)
        let file = try await ContentFile.create(path)
        do {
            var hash = SHA256()
            var length: Int64 = 0
            for try await part in bytes {
                part.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
                length += Int64(part.readableBytes)
                try await file.append(part)
            }
            try await file.synchronize()
            let digest = ContentDigest(bytes: hash.finalize())
            let marked = self.path("\(digest).\(name)\(Self.uploadSuffix)")
            try await ContentDirectory.rename(path, to: marked)
            return ReceivedFile(
                digest: digest,
                length: length,
                file: file,
                upload: marked,
                link: self.path(name + Self.linkSuffix),
                kept: self.path(digest.rawValue),
                directory: directory
            )
        } catch {
            // Away from the task, which may be cancelled. The first failure is the one to tell of; a
            // file that stays is found at the next start.
            await Task { try? await ContentDirectory.remove(path) }.value
            throw error
        }
    }

    func open(_ digest: ContentDigest, length: Int64) async throws -> any ContentReader {
        try await ContentFile.open(path(digest.rawValue), length: length)
    }

    func removeLeftovers(
        unless isOnRecord: @Sendable (ContentDigest) async throws -> Bool
    ) async throws -> Int {
        var count = 0
        for name in try await ContentDirectory.names(in: directory)
        where name.hasSuffix(Self.uploadSuffix) || name.hasSuffix(Self.linkSuffix) {
            guard let file = try await ContentFile.abandoned(path(name)) else { continue }
            let digest = name.split(separator: ".").first.flatMap {
                ContentDigest(rawValue: String($0))
            }
            if let digest, try await file.isNamed(path(digest.rawValue)),
                try await !isOnRecord(digest)
            {
                try await ContentDirectory.remove(path(digest.rawValue))
            }
            try await ContentDirectory.remove(path(name))
            count += 1
        }
        return count
    }

    private func path(_ name: String) -> String { directory + "/" + name }
}

/// A file that was written and is not on record yet.
private struct ReceivedFile: ReceivedContent {
    let digest: ContentDigest
    let length: Int64
    /// Open, and so locked, until this value is let go.
    let file: ContentFile
    let upload: String
    let link: String
    let kept: String
    let directory: String

    func keep() async throws {
        // By way of a second name, so that the first stays and a file in use is replaced at once.
        try await ContentDirectory.link(upload, as: link)
        try await ContentDirectory.rename(link, to: kept)
        try await ContentDirectory.synchronize(directory)
    }

    func settle() async throws {
        try await ContentDirectory.remove(upload)
    }

    func discard() async throws {
        // Away from the task, which may be cancelled.
        try await Task {
            // Kept, and then not wanted: whether others want it is asked at the next start.
            guard try await !file.isNamed(kept) else { return }
            try await ContentDirectory.remove(upload)
        }.value
    }
}

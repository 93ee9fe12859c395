import Crypto
import EventTypes
import Foundation
import NIOCore

/// A directory in which uploads wait until all of their bytes are there and known to be right.
///
/// A waiting upload is a file `<random>.upload`, locked by the process that is about it. A file that
/// nobody holds was left by a process that was killed. Several instances may share the directory.
struct ContentSpool: Sendable {
    let directory: String

    private static let uploadSuffix = ".upload"
    /// A second name of an upload, for as long as it takes to rename it (``DiskContentStorage``).
    static let linkSuffix = ".link"

    /// Takes bytes in, durably.
    ///
    /// - Throws: ``ContentStorageError``, or what the sequence throws; nothing is left then.
    func receive<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes
    ) async throws -> SpooledContent where Bytes.Element == ByteBuffer {
        try await ContentDirectory.create(directory)
        let (file, path) = try await create()
        do {
            var hash = SHA256()
            var length: Int64 = 0
            for try await part in bytes {
                part.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
                length += Int64(part.readableBytes)
                try await file.append(part)
            }
            try await file.synchronize()
            return SpooledContent(
                digest: ContentDigest(bytes: hash.finalize()),
                length: length,
                file: file,
                path: path
            )
        } catch {
            // Away from the task, which may be cancelled. The first failure is the one to tell of; a
            // file that stays is found by the next cleaning.
            await Task { try? await ContentDirectory.remove(path) }.value
            throw error
        }
    }

    /// Removes the files that nobody holds.
    ///
    /// - Returns: How many there were.
    func removeLeftovers() async throws -> Int {
        var count = 0
        for name in try await ContentDirectory.names(in: directory)
        where name.hasSuffix(Self.uploadSuffix) || name.hasSuffix(Self.linkSuffix) {
            if try await ContentFile.removeAbandoned(path(name)) { count += 1 }
        }
        return count
    }

    func path(_ name: String) -> String { directory + "/" + name }

    /// Makes a file that is locked.
    private func create() async throws -> (ContentFile, path: String) {
        // Whoever cleans up may come between the making and the locking; it takes the file then.
        for _ in 1...10 {
            let path = path(UUID().uuidString.lowercased() + Self.uploadSuffix)
            if let file = try await ContentFile.create(path) { return (file, path) }
        }
        throw ContentStorageError(.unusable, "every new file in \(directory) is locked at once")
    }
}

/// An upload that waits, whole.
struct SpooledContent: Sendable {
    let digest: ContentDigest
    let length: Int64
    /// Open, and so locked, until this value is let go.
    let file: ContentFile
    let path: String

    func discard() async throws {
        // Away from the task, which may be cancelled.
        try await Task { try await ContentDirectory.remove(path) }.value
    }
}

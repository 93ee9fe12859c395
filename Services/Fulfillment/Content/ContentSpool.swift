import Crypto
import EventTypes
import Foundation
import NIOCore

/// A directory in which uploads wait until all of their bytes have arrived and are verified.
///
/// A waiting upload is a file `<random>.upload`, locked by the process that receives it. A file
/// without a lock was left by a process that was killed. Several instances may share the directory.
struct ContentSpool: Sendable {
    let directory: String

    private static let uploadSuffix = ".upload"
    /// The suffix of an upload's second name, which exists only while it is renamed
    /// (``DiskContentStorage``).
    static let linkSuffix = ".link"

    /// Receives bytes and stores them durably.
    ///
    /// - Throws: ``ContentStorageError``, or any error of the sequence. The file is then removed.
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
            // In a task of its own, because this one may be cancelled. The first error is the one
            // to report. The next cleaning removes a file that remains.
            await Task { try? await ContentDirectory.remove(path) }.value
            throw error
        }
    }

    /// Removes the files that no process has locked.
    ///
    /// - Returns: The number of files removed.
    func removeLeftovers() async throws -> Int {
        var count = 0
        for name in try await ContentDirectory.names(in: directory)
        where name.hasSuffix(Self.uploadSuffix) || name.hasSuffix(Self.linkSuffix) {
            if try await ContentFile.removeAbandoned(path(name)) { count += 1 }
        }
        return count
    }

    func path(_ name: String) -> String { directory + "/" + name }

    /// Creates a file that is locked.
    private func create() async throws -> (ContentFile, path: String) {
        // A cleaner may remove the file between its creation and the lock, so this is tried several
        // times.
        for _ in 1...10 {
            let path = path(UUID().uuidString.lowercased() + Self.uploadSuffix)
            if let file = try await ContentFile.create(path) { return (file, path) }
        }
        throw ContentStorageError(.unusable, "every new file in \(directory) is locked at once")
    }
}

/// A completely received upload that waits.
struct SpooledContent: Sendable {
    let digest: ContentDigest
    let length: Int64
    /// Open, and therefore locked, until this value is released.
    let file: ContentFile
    let path: String

    func discard() async throws {
        // In a task of its own, because this one may be cancelled.
        try await Task { try await ContentDirectory.remove(path) }.value
    }
}

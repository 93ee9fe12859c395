import EventTypes
import NIOCore

/// Stores contents as files in one directory, which several instances may share.
///
/// The name of a content's file is its digest. Uploads wait in the same directory, so storing one
/// only changes its name.
struct DiskContentStorage: ContentStorage {
    let directory: String

    private var spool: ContentSpool { ContentSpool(directory: directory) }

    func check() async throws { _ = try await ContentDirectory.names(in: directory) }

    func receive<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes
    ) async throws -> any ReceivedContent where Bytes.Element == ByteBuffer {
        ReceivedFile(spooled: try await spool.receive(bytes), spool: spool)
    }

    func find(_ digest: ContentDigest, length: Int64) async throws {
        _ = try await ContentFile.open(spool.path(digest.rawValue), length: length)
    }

    func open(
        _ digest: ContentDigest,
        length: Int64,
        range: Range<Int64>
    ) async throws -> any ContentReader {
        let file = try await ContentFile.open(spool.path(digest.rawValue), length: length)
        return FileReader(file: file, range: range)
    }

    func remove(_ digest: ContentDigest) async throws {
        try await ContentDirectory.remove(spool.path(digest.rawValue))
    }

    func removeLeftovers() async throws -> Int { try await spool.removeLeftovers() }

    func shutDown() async {}
}

/// A file that was received and will become a content's file.
private struct ReceivedFile: ReceivedContent {
    let spooled: SpooledContent
    let spool: ContentSpool

    var digest: ContentDigest { spooled.digest }
    var length: Int64 { spooled.length }

    func store() async throws {
        // It uses a second name, so that the first remains and a file in use is replaced
        // atomically.
        let link = spooled.path + ContentSpool.linkSuffix
        try await ContentDirectory.link(spooled.path, as: link)
        do {
            try await ContentDirectory.rename(link, to: spool.path(digest.rawValue))
        } catch {
            // In a task of its own, because this one may be cancelled.
            await Task { try? await ContentDirectory.remove(link) }.value
            throw error
        }
        // If both names belong to the same file, `rename` leaves both.
        try await ContentDirectory.remove(link)
        try await ContentDirectory.synchronize(spool.directory)
    }

    func discard() async throws { try await spooled.discard() }
}

/// A part of a file, read as fast as its bytes are written.
private struct FileReader: ContentReader {
    let file: ContentFile
    let range: Range<Int64>

    func read(_ write: (ByteBuffer) async throws -> Void) async throws {
        for try await bytes in file.bytes(in: range) { try await write(bytes) }
    }
}

import Foundation
public import Messaging

/// Writes events to a file, one a line; there is no file, or a whole one with its manifest.
///
/// A name that ends in `.gz` is compressed. Not for several threads, and not to be used after
/// ``finish(_:)`` or ``discard()``.
public final class EventFileWriter {
    private let path: String
    private let file: FileHandle
    private let gzip: Gzip?
    private let encoder: JSONEncoder
    private var buffer = Data()
    private var events = 0

    private static let bufferMax = 1 << 18

    /// Begins a file, under another name.
    ///
    /// - Throws: ``ArchiveError`` if there is one of that name, or none can be written.
    public init(_ path: String) throws {
        for existing in [path, EventFileManifest.path(of: path)]
        where FileManager.default.fileExists(atPath: existing) {
            throw ArchiveError(
                .eventFile,
                "\(existing) is there already; it is not written over."
            )
        }
        let partial = Self.partial(path)
        guard FileManager.default.createFile(atPath: partial, contents: nil),
            let file = FileHandle(forWritingAtPath: partial)
        else { throw ArchiveError(.eventFile, "\(partial) cannot be written.") }
        let gzip = path.hasSuffix(".gz") ? try Gzip(into: file, path: partial) : nil
        self.path = path
        self.file = file
        self.gzip = gzip
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    private static func partial(_ path: String) -> String { path + ".partial" }

    /// Adds events.
    ///
    /// - Throws: An error of the disk; the file is left unfinished.
    public func write(_ rows: some Sequence<ExactRow>, of service: String) throws {
        for row in rows {
            buffer.append(try encoder.encode(EventLine(row, service: service)))
            buffer.append(0x0A)
            events += 1
            if buffer.count >= Self.bufferMax { try flush() }
        }
    }

    /// Ends the file: its bytes are on the disk before it has its name.
    ///
    /// - Parameter month: Which month of a log it is, if it is one.
    /// - Returns: Its manifest, which lies beside it.
    /// - Throws: An error of the disk, or ``ArchiveError``.
    public func finish(_ month: ArchivedMonth? = nil) throws -> EventFileManifest {
        try flush()
        try gzip?.finish()
        try file.synchronize()
        try file.close()
        let partial = Self.partial(path)
        // Of what lies there, not of what was meant to.
        let manifest = try EventFileManifest(events: events, month: month, of: partial)
        try FileManager.default.moveItem(atPath: partial, toPath: path)
        let pretty = JSONEncoder()
        pretty.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try (pretty.encode(manifest) + Data("\n".utf8))
            .write(to: URL(fileURLWithPath: EventFileManifest.path(of: path)), options: .atomic)
        try EventFileReader.synchronize(path)
        return manifest
    }

    /// Gives it up, and takes away what was written.
    public func discard() {
        gzip?.stop()
        try? file.close()  // It is removed.
        try? FileManager.default.removeItem(atPath: Self.partial(path))  // A leftover does no harm.
    }

    private func flush() throws {
        try (gzip?.handle ?? file).write(contentsOf: buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}

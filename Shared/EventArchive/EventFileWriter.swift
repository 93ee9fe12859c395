import Foundation
public import Messaging

/// Writes events to a file, one per line.
///
/// A file with its final name is always complete and has a manifest. Only its owner may read it,
/// because events name accounts.
///
/// A file whose name ends in `.gz` is compressed. A writer must not be used from several threads,
/// nor after ``finish(_:)`` or ``discard()``.
public final class EventFileWriter {
    private let path: String
    private let file: FileHandle
    private let gzip: Gzip?
    private let encoder: JSONEncoder
    private var buffer = Data()
    private var events = 0

    private static let bufferMax = 1 << 18

    /// Begins a file, under a temporary name.
    ///
    /// - Throws: ``ArchiveError`` if a file of that name exists, or none can be written.
    public init(_ path: String) throws {
        for existing in [path, EventFileManifest.path(of: path)]
        where FileManager.default.fileExists(atPath: existing) {
            throw ArchiveError(
                .eventFile,
                "\(existing) is there already; it is not written over."
            )
        }
        let partial = Self.partial(path)
        // A leftover may have another mode, so it is not written over.
        try? FileManager.default.removeItem(atPath: partial)
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw ArchiveError(.eventFile, "\(partial) cannot be written.")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let gzip = path.hasSuffix(".gz") ? try Gzip(into: file, path: partial) : nil
        self.path = path
        self.file = file
        self.gzip = gzip
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    private static func partial(_ path: String) -> String { path + ".partial" }

    /// Appends events.
    ///
    /// - Throws: A file error; the file then stays unfinished.
    public func write(_ rows: some Sequence<ExactRow>, of service: String) throws {
        for row in rows {
            buffer.append(try encoder.encode(EventLine(row, service: service)))
            buffer.append(0x0A)
            events += 1
            if buffer.count >= Self.bufferMax { try flush() }
        }
    }

    /// Completes the file.
    ///
    /// It gets its final name only after its bytes are on disk.
    ///
    /// - Parameter month: The month of a log that it contains, if it is one.
    /// - Returns: The manifest, which is stored beside the file.
    /// - Throws: A file error, or ``ArchiveError``.
    public func finish(_ month: ArchivedMonth? = nil) throws -> EventFileManifest {
        try flush()
        try gzip?.finish()
        try file.synchronize()
        try file.close()
        let partial = Self.partial(path)
        // The manifest describes the file on disk, not the bytes in memory.
        let manifest = try EventFileManifest(events: events, month: month, of: partial)
        try FileManager.default.moveItem(atPath: partial, toPath: path)
        let pretty = JSONEncoder()
        pretty.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try (pretty.encode(manifest) + Data("\n".utf8))
            .write(to: URL(fileURLWithPath: EventFileManifest.path(of: path)), options: .atomic)
        try EventFileReader.synchronize(path)
        return manifest
    }

    /// Abandons the file, and removes what was written.
    public func discard() {
        gzip?.stop()
        try? file.close()  // The file is removed next.
        try? FileManager.default.removeItem(atPath: Self.partial(path))  // Leftovers do no harm.
    }

    private func flush() throws {
        try (gzip?.handle ?? file).write(contentsOf: buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}

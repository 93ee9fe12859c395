import Foundation

/// A file of events that was checked to be complete.
public struct EventFileReader: Sendable {
    /// The path of the file.
    public let path: String
    /// The manifest of the file.
    public let manifest: EventFileManifest

    /// Checks a file against its manifest.
    ///
    /// - Throws: ``ArchiveError`` that says what is missing or different.
    public init(_ path: String) throws {
        self.path = path
        manifest = try EventFileManifest.checked(of: path)
    }

    /// Begins to read it.
    ///
    /// - Throws: ``ArchiveError`` if it cannot be opened.
    public func open() throws -> EventFileCursor {
        try EventFileCursor(self)
    }

    /// Flushes the file, its manifest and their directory to disk, no matter which process wrote
    /// them.
    ///
    /// - Throws: ``ArchiveError`` if that fails.
    public func synchronize() throws {
        try Self.synchronize(path)
    }

    /// Flushes a file, its manifest and its directory.
    ///
    /// After a power cut, file names survive only if the directory was flushed too.
    static func synchronize(_ path: String) throws {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        for item in [path, EventFileManifest.path(of: path), directory] {
            let descriptor = Foundation.open(item, O_RDONLY)
            guard descriptor >= 0 else {
                throw ArchiveError(.eventFile, "\(item) cannot be opened.")
            }
            defer { close(descriptor) }
            guard fsync(descriptor) == 0 else {
                throw ArchiveError(.eventFile, "\(item) cannot be brought to the disk.")
            }
        }
    }
}

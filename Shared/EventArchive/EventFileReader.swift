import Foundation

/// A file of events, known to be whole.
public struct EventFileReader: Sendable {
    /// Where it is.
    public let path: String
    /// What it says of itself.
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

    /// Returns once the file, its manifest and their names are on the disk, whoever wrote them.
    ///
    /// - Throws: ``ArchiveError`` if that is not to be had.
    public func synchronize() throws {
        try Self.synchronize(path)
    }

    /// Names survive a power cut only when their directory is on the disk as well.
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

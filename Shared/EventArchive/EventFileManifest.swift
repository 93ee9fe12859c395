import Crypto
import Foundation
import Seals

/// The description of a file of events, in a file beside it.
///
/// Readers first check the file against it.
public struct EventFileManifest: Codable, Hashable, Sendable {
    /// The only format there is.
    static let knownFormat = "counterfoil-events/1"

    let format: String
    /// The number of events in the file, one per line.
    public let events: Int
    /// The size of the file on disk, in bytes.
    public let bytes: Int
    /// SHA-256 of the file on disk, in hexadecimal digits.
    public let sha256: String
    /// The month of a log that the file contains, if it is one.
    public let month: ArchivedMonth?

    /// The path of a file's manifest.
    public static func path(of file: String) -> String { file + ".manifest.json" }

    /// Renames a complete file and its manifest.
    ///
    /// - Throws: ``ArchiveError`` if a file of the new name exists, or the file cannot be moved.
    public static func move(_ file: String, to name: String) throws {
        for path in [name, path(of: name)] where FileManager.default.fileExists(atPath: path) {
            throw ArchiveError(.eventFile, "\(path) is there already; it is not written over.")
        }
        do {
            try FileManager.default.moveItem(atPath: path(of: file), toPath: path(of: name))
            try FileManager.default.moveItem(atPath: file, toPath: name)
        } catch {
            throw ArchiveError(
                .eventFile,
                "\(name) cannot be written: \(error.localizedDescription)"
            )
        }
    }

    init(events: Int, month: ArchivedMonth?, of path: String) throws {
        let (bytes, digest) = try Self.digest(of: path)
        format = Self.knownFormat
        self.events = events
        self.bytes = bytes
        sha256 = digest.description
        self.month = month
    }

    /// Reads the manifest of a file, and checks the file against it.
    ///
    /// - Throws: ``ArchiveError`` that says what is missing or different.
    static func checked(of path: String) throws -> EventFileManifest {
        let manifestPath = Self.path(of: path)
        let manifest: EventFileManifest
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: manifestPath))
            manifest = try JSONDecoder().decode(EventFileManifest.self, from: data)
        } catch {
            throw ArchiveError(
                .eventFile,
                "\(path) has no manifest that can be read at \(manifestPath), so nobody can say "
                    + "whether it is whole."
            )
        }
        guard manifest.format == knownFormat else {
            throw ArchiveError(
                .eventFile,
                "\(path) is of the form \(manifest.format), which is not known here."
            )
        }
        let (bytes, digest) = try digest(of: path)
        guard bytes == manifest.bytes else {
            throw ArchiveError(
                .eventFile,
                "\(path) has \(bytes) bytes and its manifest says \(manifest.bytes); it was cut or "
                    + "added to."
            )
        }
        guard digest.description == manifest.sha256 else {
            throw ArchiveError(
                .eventFile,
                "\(path) is not the file that its manifest is of: its SHA-256 is another."
            )
        }
        return manifest
    }

    private static func digest(of path: String) throws -> (bytes: Int, digest: LogDigest) {
        var hasher = SHA256()
        var count = 0
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }  // It was only read.
            while let data = try handle.read(upToCount: 1 << 18), !data.isEmpty {
                hasher.update(data: data)
                count += data.count
            }
        } catch {
            throw ArchiveError(
                .eventFile,
                "\(path) cannot be read: \(error.localizedDescription)"
            )
        }
        guard let digest = LogDigest(bytes: Array(hasher.finalize())) else {
            throw ArchiveError(.eventFile, "\(path) has no digest.")  // SHA-256 has 32 bytes.
        }
        return (count, digest)
    }
}

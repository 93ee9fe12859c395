import Crypto
import Foundation
import Seals

/// What a file of events says of itself, in a file beside it: whoever reads the one checks it by the
/// other first.
public struct EventFileManifest: Codable, Hashable, Sendable {
    /// The one form there is.
    static let knownFormat = "counterfoil-events/1"

    let format: String
    /// How many events it holds, one a line.
    public let events: Int
    /// How many bytes the file has, as it lies there.
    public let bytes: Int
    /// SHA-256 of the file as it lies there, in hexadecimal digits.
    public let sha256: String
    /// Which month of a log it is, if it is one.
    public let month: ArchivedMonth?

    /// Where the manifest of a file is.
    public static func path(of file: String) -> String { file + ".manifest.json" }

    /// Gives a whole file, and its manifest, another name.
    ///
    /// - Throws: ``ArchiveError`` if there is one of that name, or it cannot be moved.
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

    /// Reads the manifest of a file, and looks that the file is what it says.
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
            defer { try? handle.close() }  // It was read only.
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

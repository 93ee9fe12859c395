import EventTypes
import Foundation

/// The folder of what outlives a restart: sessions, records of jobs, and refunds without an answer.
///
/// Only its owner can read it. Each file is replaced as a whole, so none is ever half written.
struct StateFolder: Sendable {
    /// The path of the folder.
    let path: String

    /// Makes the folder if there is none.
    ///
    /// - Throws: An error of the file system.
    init(_ path: String, _ name: String) throws {
        self.path = path + "/" + name
        try FileManager.default.createDirectory(
            atPath: self.path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        // A folder that was there already may be open to others.
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: self.path)
    }

    /// The path of a file.
    func path(of name: String) -> String { path + "/" + name }

    /// The names of the files that end in a text.
    func names(ending end: String) -> [String] {
        // A folder that cannot be read is as good as empty; the first write says what is wrong.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0.hasSuffix(end) }.sorted()
    }

    /// Reads a file.
    ///
    /// - Returns: `nil` if there is none, or it is not what this version writes.
    func read<T: Decodable>(_ type: T.Type, from name: String) -> T? {
        // Whoever finds nothing begins anew: a session is signed in again, a job is begun again.
        (try? Data(contentsOf: URL(fileURLWithPath: path(of: name))))
            .flatMap { try? JSONDecoder().decode(type, from: $0) }
    }

    /// Writes a file, which only its owner may read.
    func write(_ value: some Encodable, to name: String) throws {
        let url = URL(fileURLWithPath: path(of: name))
        try JSONEncoder().encode(value).write(to: url, options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    }

    /// Removes a file, if there is one.
    ///
    /// - Throws: An error of the file system if it is still there.
    func remove(_ name: String) throws {
        do {
            try FileManager.default.removeItem(atPath: path(of: name))
        } catch let error as CocoaError where error.code == .fileNoSuchFile {
            // What is not there need not be removed.
        }
    }
}

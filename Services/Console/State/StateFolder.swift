import EventTypes
import Foundation

/// The folder in which the console keeps what outlives a restart: sessions, and the records of jobs.
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
    func remove(_ name: String) {
        // What is not there need not be removed.
        try? FileManager.default.removeItem(atPath: path(of: name))
    }
}

import Foundation

/// A committed JSON file of `Tests/Fixtures`.
enum Fixture {
    /// The bytes of a file.
    static func bytes(_ path: String, from file: String = #filePath) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures")
        return Array(try Data(contentsOf: folder.appending(path: path)))
    }

    /// The names of the files of a folder.
    static func names(in path: String, from file: String = #filePath) throws -> [String] {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/" + path)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".json") }.sorted()
    }

    /// JSON in the form that equal documents share: keys sorted, no white space, and without the
    /// members named.
    static func canonical(_ json: [UInt8], without names: Set<String> = []) throws -> String {
        let document = stripped(
            try JSONSerialization.jsonObject(with: Data(json)),
            of: names
        )
        let data = try JSONSerialization.data(
            withJSONObject: document,
            options: [.sortedKeys, .withoutEscapingSlashes]
        )
        return String(decoding: data, as: UTF8.self)
    }

    private static func stripped(_ value: Any, of names: Set<String>) -> Any {
        switch value {
        case let object as [String: Any]:
            object.filter { !names.contains($0.key) }.mapValues { stripped($0, of: names) }
        case let array as [Any]: array.map { stripped($0, of: names) }
        default: value
        }
    }
}

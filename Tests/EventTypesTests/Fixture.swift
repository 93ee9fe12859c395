import Foundation

/// A committed JSON file of `Tests/Fixtures`.
enum Fixture {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fixtures")

    /// The bytes of a file.
    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: path)))
    }

    /// The names of the files of a folder.
    static func names(in path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: path).path)
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

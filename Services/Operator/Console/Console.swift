import Foundation

/// The output for the operator: results on standard output, for people or as JSON, and errors on
/// standard error.
enum Console {
    /// Prints a line.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// Prints a value as JSON with sorted keys.
    static func say(json value: some Encodable) throws {
        say(try prettyJSON(value))
    }

    /// Prints an error.
    static func complain(_ line: String) {
        FileHandle.standardError.write(Data(("counterfoil: " + line + "\n").utf8))
    }

    /// A value as JSON with sorted keys, one member per line.
    static func prettyJSON(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

import Foundation

/// A JSON document as its bytes.
public struct PostgresJSON: PostgresEncodable, PostgresDecodable, Hashable {
    /// The document in UTF-8.
    public let bytes: [UInt8]

    /// Wraps a document.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Encodes a value with sorted keys, so that equal values have equal bytes.
    ///
    /// - Throws: `EncodingError`.
    public init(encoding value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        bytes = Array(try encoder.encode(value))
    }

    /// Decodes the document.
    ///
    /// - Throws: `DecodingError`, which names the missing or malformed member.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }

    /// `json`; the server converts it to `jsonb` for a `jsonb` column.
    @inlinable
    public static var postgresType: PostgresType { .json }

    /// Appends the document.
    @inlinable
    public func encode(into buffer: inout [UInt8]) { buffer.append(contentsOf: bytes) }

    /// Reads `json` or `jsonb`.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> PostgresJSON {
        switch type {
        case .json: return PostgresJSON(bytes: [UInt8](bytes))
        case .jsonb:
            // The first byte is the version of the format.
            guard bytes.first == 1 else {
                throw PostgresError(.decoding, "jsonb in a form other than 1")
            }
            return PostgresJSON(bytes: [UInt8](bytes.dropFirst()))
        default: throw .mismatch(type, PostgresJSON.self)
        }
    }
}

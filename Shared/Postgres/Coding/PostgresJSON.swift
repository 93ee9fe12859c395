/// A JSON document as its bytes.
public struct PostgresJSON: PostgresEncodable, PostgresDecodable, Hashable {
    /// The document in UTF-8.
    public let bytes: [UInt8]

    /// Wraps a document.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// `json`; the server converts it to `jsonb` for a `jsonb` column.
    public static var postgresType: PostgresType { .json }

    /// Appends the document.
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

package import EventTypes
package import Postgres

extension PostgresJSON {
    /// Encodes a value with the same bytes as Foundation's encoder.
    package init(plain value: some PlainJSONCodable) { self.init(bytes: value.json) }

    /// Decodes the document.
    ///
    /// - Throws: `DecodingError`, which names the missing or malformed member.
    package func decodePlain<Value: PlainJSONCodable>(_ type: Value.Type) throws -> Value {
        try Value(json: bytes) ?? decode(type)
    }
}

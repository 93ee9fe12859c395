import Foundation

/// Encodes and decodes events as JSON with sorted keys, so that equal events have equal bytes.
///
/// Unknown fields are ignored, but they stay in the stored bytes.
public enum EventCoding {
    /// Encodes an event's data.
    ///
    /// - Throws: `EncodingError`. The types of this module throw it only if a number is not finite.
    public static func encode(_ event: some Event) throws -> [UInt8] {
        if let data = event.json() { return data }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(event))
    }

    /// Decodes an event's data.
    ///
    /// - Throws: `DecodingError`, which names the missing or malformed field.
    public static func decode<Value: Event>(_ type: Value.Type, from data: [UInt8]) throws -> Value
    {
        if let value = Value(json: data) { return value }
        return try JSONDecoder().decode(type, from: Data(data))
    }
}

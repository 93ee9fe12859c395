import Foundation

/// How events become bytes and bytes become events: JSON with sorted keys, so that equal events are
/// equal bytes.
///
/// Fields this version does not know are ignored, and kept in the stored bytes.
public enum EventCoding {
    /// Encodes an event's data.
    ///
    /// - Throws: `EncodingError`; for the types of this module only if a number is not finite.
    public static func encode(_ event: some Event) throws -> [UInt8] {
        if let data = event.json() { return data }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(event))
    }

    /// Decodes an event's data.
    ///
    /// - Throws: `DecodingError`, which names the field that is missing or malformed.
    public static func decode<Value: Event>(_ type: Value.Type, from data: [UInt8]) throws -> Value
    {
        if let value = Value(json: data) { return value }
        return try JSONDecoder().decode(type, from: Data(data))
    }
}

package import Foundation

/// The data of an event as text.
///
/// Pure.
package enum EventText {
    /// The data as JSON of many lines, as text, or in hexadecimal.
    package static func text(of data: Data) -> String {
        // Data that is no JSON fails, and is shown as what it is.
        if let value = try? JSONSerialization.jsonObject(with: data),
            let pretty = try? JSONSerialization.data(
                withJSONObject: value,
                options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            )
        {
            return String(decoding: pretty, as: UTF8.self)
        }
        return String(validating: data, as: UTF8.self) ?? data.map(hexadecimal).joined()
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
}

/// A reader for the fields of forms, as browsers send them (`application/x-www-form-urlencoded`).
///
/// It passes over the bytes once, because a page for codes reads a form for each redemption.
public enum FormText {
    /// Reads the fields of a form, in their order.
    ///
    /// - Parameter form: The body of the form.
    /// - Returns: The names and the values. A text is `nil` if its percent-encoding or its UTF-8 is
    ///   malformed, and empty if the field has none.
    public static func fields(of form: [UInt8]) -> [(name: String?, value: String?)] {
        form.split(separator: UInt8(ascii: "&")).map { field in
            let end = field.firstIndex(of: UInt8(ascii: "=")) ?? field.endIndex
            return (decoded(field[..<end]), decoded(field[end...].dropFirst()))
        }
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        let bytes = text.withUnsafeBufferPointer { encoded -> [UInt8]? in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(encoded.count)
            var place = 0
            while place < encoded.count {
                let byte = encoded[place]
                place += 1
                switch byte {
                case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
                case UInt8(ascii: "%"):
                    guard place + 1 < encoded.count, let high = digit(encoded[place]),
                        let low = digit(encoded[place + 1])
                    else { return nil }
                    bytes.append(high << 4 | low)
                    place += 2
                default: bytes.append(byte)
                }
            }
            return bytes
        }
        return bytes.flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The value of a hexadecimal digit; `nil` if the character is none.
    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

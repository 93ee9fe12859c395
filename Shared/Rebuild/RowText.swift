/// Parses the text of a PostgreSQL row (`ROW(…)::text`).
///
/// The form of the text is described in PostgreSQL, "Composite Types", section 8.16.6.
enum RowText {
    /// The fields of a row; `nil` for NULL.
    static func fields(of text: String) -> [String?] {
        var fields: [String?] = []
        var field: [UInt8] = []
        var isQuoted = false
        var wasQuoted = false
        var bytes = text.utf8.dropFirst().dropLast()[...]
        func end() {
            fields.append(
                field.isEmpty && !wasQuoted ? nil : String(decoding: field, as: UTF8.self)
            )
            field.removeAll()
            wasQuoted = false
        }
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "\"") where isQuoted && bytes.first == byte:
                field.append(byte)
                bytes.removeFirst()
            case UInt8(ascii: "\""):
                isQuoted.toggle()
                wasQuoted = true
            case UInt8(ascii: "\\"):
                if let next = bytes.popFirst() { field.append(next) }
            case UInt8(ascii: ",") where !isQuoted: end()
            default: field.append(byte)
            }
        }
        end()
        return fields
    }
}

/// A value that is often stored, and so encoded and decoded without Foundation's coders, with the same
/// bytes.
package protocol PlainJSONCodable: Codable {
    /// Writes the members in alphabetical order.
    func write(to text: inout PlainJSONText)
    /// Reads the members; `nil` if one is missing, wrong, or not in plain form.
    init?(from json: inout PlainJSON)
}

extension PlainJSONCodable {
    /// The value as JSON, with its members in alphabetical order.
    package var json: [UInt8] {
        var text = PlainJSONText(capacity: 1024)
        text.object(write)
        return text.bytes
    }

    /// Reads a value.
    ///
    /// It is `nil` if a member is missing or wrong, or if the text is not plain. Foundation's decoder
    /// then reads it, or says what is wrong.
    package init?(json data: [UInt8]) {
        guard let value = PlainJSON.read(data, { Self(from: &$0) }) else { return nil }
        self = value
    }
}

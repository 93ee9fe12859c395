/// A fast reader for the plain JSON that ``PlainJSONText`` and similar code write: objects and
/// arrays of simple strings, whole numbers, Booleans and null.
///
/// It creates only the requested values and needs a tenth of the time of Foundation's decoder. It
/// gives up at anything that is not plain: an escape, a character outside ASCII, a fraction, or an
/// error. Every function reports this with `nil` or `false`. The caller then uses Foundation's
/// decoder, which reads all JSON and names the wrong field.
package struct PlainJSON {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// Whether other JSON is skipped instead of rejected, because the text is known to be valid
    /// JSON.
    private let passesAnything: Bool
    /// The position of the next token.
    package private(set) var position = 0

    /// The name of a member: the bytes between its quotes.
    package struct Name {
        fileprivate let bytes: Slice<UnsafeBufferPointer<UInt8>>

        /// Matches a name in a `switch`.
        package static func ~= (name: StaticString, found: Name) -> Bool {
            found.bytes.count == name.utf8CodeUnitCount
                && found.bytes.elementsEqual(
                    UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
                )
        }
    }

    /// Reads a whole document.
    ///
    /// - Returns: The result of the body, or `nil` if more text follows.
    package static func read<Value>(
        _ data: [UInt8],
        _ body: (inout PlainJSON) -> Value?
    ) -> Value? {
        data.withUnsafeBufferPointer { bytes in
            var json = PlainJSON(bytes: bytes, passesAnything: false)
            let value = body(&json)
            json.skipSpace()
            return json.position == bytes.count ? value : nil
        }
    }

    /// Finds an object that is a member of the outermost object, without reading the rest.
    ///
    /// - Parameters:
    ///   - member: The member's name.
    ///   - data: Text that is known to be JSON. It need not be plain.
    /// - Returns: The range of the object; `nil` if there is no such member, it is not an object,
    ///   or the text is truncated.
    package static func rangeOfObject(_ member: StaticString, in data: [UInt8]) -> Range<Int>? {
        data.withUnsafeBufferPointer { bytes in
            var json = PlainJSON(bytes: bytes, passesAnything: true)
            var range: Range<Int>?
            _ = json.object { json, name in
                guard member ~= name else { return json.skip() }
                json.skipSpace()
                let start = json.position
                if json.object({ json, _ in json.skip() }) { range = start..<json.position }
                return false
            }
            return range
        }
    }

    /// Stores a value that was read, and returns whether there was one.
    package static func keep<Value>(_ value: Value?, in part: inout Value?) -> Bool {
        part = value
        return value != nil
    }

    /// Reads an object.
    ///
    /// The body reads the value of each member, or returns `false`.
    package mutating func object(_ member: (inout PlainJSON, Name) -> Bool) -> Bool {
        guard take(UInt8(ascii: "{")) else { return false }
        if take(UInt8(ascii: "}")) { return true }
        while true {
            guard let name = plainString(), take(UInt8(ascii: ":")),
                member(&self, Name(bytes: name))
            else { return false }
            if take(UInt8(ascii: "}")) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
        }
    }

    /// Reads an array.
    ///
    /// The body reads each element, or returns `false`.
    package mutating func array(_ element: (inout PlainJSON) -> Bool) -> Bool {
        guard take(UInt8(ascii: "[")) else { return false }
        if take(UInt8(ascii: "]")) { return true }
        while true {
            guard element(&self) else { return false }
            if take(UInt8(ascii: "]")) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
        }
    }

    /// Reads a string.
    package mutating func string() -> String? {
        plainString().map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads a string in which slashes may be escaped, as Foundation's encoder escapes them by default.
    package mutating func stringWithSlashes() -> String? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard position < bytes.count, bytes[position] == UInt8(ascii: "/") else {
                    return nil
                }
            case 0x20..<0x80: text.append(byte)
            default: return nil
            }
        }
        return nil
    }

    /// Reads a string that has the form of an identifier.
    package mutating func identifier<ID: Identifier>(_ type: ID.Type = ID.self) -> ID? {
        string().flatMap(ID.init(rawValue:))
    }

    /// Reads a whole number.
    package mutating func integer() -> Int64? {
        skipSpace()
        let isNegative = take(UInt8(ascii: "-"))
        let start = position
        var value: Int64 = 0
        while position < bytes.count, case let digit = bytes[position],
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit)
        {
            let (tens, tooBig) = value.multipliedReportingOverflow(by: 10)
            let (sum, stillTooBig) = tens.addingReportingOverflow(Int64(digit - 0x30))
            guard !tooBig, !stillTooBig else { return nil }
            value = sum
            position += 1
        }
        // Reject a missing digit, a leading zero, or a number that continues in another way.
        guard position > start, position == start + 1 || bytes[start] != UInt8(ascii: "0") else {
            return nil
        }
        if position < bytes.count, [0x2E, 0x45, 0x65].contains(bytes[position]) { return nil }
        return isNegative ? -value : value
    }

    /// Reads a Boolean.
    package mutating func bool() -> Bool? {
        if takeWord("true") { return true }
        return takeWord("false") ? false : nil
    }

    /// Reads `null`, if it is next.
    package mutating func null() -> Bool { takeWord("null") }

    /// The most values that may be within each other and are skipped, because each takes room on the
    /// stack.
    private static let depthMax = 128

    /// Skips a value of any kind.
    package mutating func skip() -> Bool { skip(depth: 1) }

    private mutating func skip(depth: Int) -> Bool {
        skipSpace()
        guard position < bytes.count, depth <= Self.depthMax else { return false }
        switch bytes[position] {
        case UInt8(ascii: "{"): return object { json, _ in json.skip(depth: depth + 1) }
        case UInt8(ascii: "["): return array { $0.skip(depth: depth + 1) }
        case UInt8(ascii: "\""): return plainString() != nil
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return bool() != nil
        case UInt8(ascii: "n"): return null()
        default: return passesAnything ? skipNumber() : integer() != nil
        }
    }

    private mutating func skipNumber() -> Bool {
        let start = position
        while position < bytes.count, case let byte = bytes[position],
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(byte)
        {
            position += 1
        }
        return position > start
    }

    private mutating func plainString() -> Slice<UnsafeBufferPointer<UInt8>>? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                defer { position += 1 }
                return bytes[start..<position]
            }
            let isPlain = (0x20..<0x80).contains(byte) && byte != UInt8(ascii: "\\")
            guard isPlain || passesAnything else { return nil }
            // The character after a backslash belongs to it, even a quote.
            position += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func takeWord(_ word: StaticString) -> Bool {
        skipSpace()
        let count = word.utf8CodeUnitCount
        guard position + count <= bytes.count,
            bytes[position..<position + count].elementsEqual(
                UnsafeBufferPointer(start: word.utf8Start, count: count)
            )
        else { return false }
        position += count
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count,
            case let byte = bytes[position],
            byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
        {
            position += 1
        }
    }
}

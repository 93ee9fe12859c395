/// Reads the JSON that ``PlainJSONText`` and its like write: objects and arrays of plain strings,
/// whole numbers, truth values and null.
///
/// It builds nothing but what is asked for, and so reads an event in a tenth of the time that
/// Foundation's decoder takes. It gives up (every function says so by `nil` or `false`) at whatever
/// is not plain: an escape, a letter outside ASCII, a fraction, a mistake. Whoever uses it then
/// asks Foundation, which reads it all and names the field that is wrong.
package struct PlainJSON {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// Whether what is not plain is passed over, because the text is known to be JSON.
    private let passesAnything: Bool
    /// Where the next token begins.
    package private(set) var position = 0

    /// The name of a member, as it stands between its quotes.
    package struct Name {
        fileprivate let bytes: Slice<UnsafeBufferPointer<UInt8>>

        /// Lets a name be matched in a `switch`.
        package static func ~= (name: StaticString, found: Name) -> Bool {
            found.bytes.count == name.utf8CodeUnitCount
                && found.bytes.elementsEqual(
                    UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
                )
        }
    }

    /// Reads a whole document.
    ///
    /// - Returns: What the body returns, or `nil` if something follows what it has read.
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
    ///   - data: What has been read as JSON before; it need not be plain.
    /// - Returns: Where the object stands; `nil` if there is no such member, it is no object, or the
    ///   text is cut short.
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

    /// Keeps what was read, and tells whether anything was.
    package static func keep<Value>(_ value: Value?, in part: inout Value?) -> Bool {
        part = value
        return value != nil
    }

    /// Reads an object; the body reads the value of each member, or says `false`.
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

    /// Reads an array; the body reads each element, or says `false`.
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
        // No digits, a zero in front of others, or a number that goes on in another way.
        guard position > start, position == start + 1 || bytes[start] != UInt8(ascii: "0") else {
            return nil
        }
        if position < bytes.count, [0x2E, 0x45, 0x65].contains(bytes[position]) { return nil }
        return isNegative ? -value : value
    }

    /// Reads a truth value.
    package mutating func bool() -> Bool? {
        if takeWord("true") { return true }
        return takeWord("false") ? false : nil
    }

    /// Reads `null`, if it is there.
    package mutating func null() -> Bool { takeWord("null") }

    /// Passes a value, whatever it is.
    package mutating func skip() -> Bool {
        skipSpace()
        guard position < bytes.count else { return false }
        switch bytes[position] {
        case UInt8(ascii: "{"): return object { json, _ in json.skip() }
        case UInt8(ascii: "["): return array { $0.skip() }
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
            // What follows a backslash belongs to it, a quote too.
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

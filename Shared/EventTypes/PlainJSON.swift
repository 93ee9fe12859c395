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

/// Writes JSON objects member by member, as Foundation's encoder writes them with sorted keys and
/// without escaped slashes; the caller keeps the order of the names.
package struct PlainJSONText {
    /// What is written so far.
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// Begins a text.
    package init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Writes an object.
    package mutating func object(_ members: (inout PlainJSONText) -> Void) {
        begin(UInt8(ascii: "{"))
        members(&self)
        end(UInt8(ascii: "}"))
    }

    /// Writes a member that is a string; nothing if there is none.
    package mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        self.name(name)
        string(value)
    }

    /// Writes a member that is a whole number; nothing if there is none.
    package mutating func member(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        self.name(name)
        integer(value)
    }

    /// Writes a member that is a moment; nothing if there is none.
    package mutating func member(_ name: StaticString, _ value: Timestamp?) {
        member(name, value?.millisecondsSinceEpoch)
    }

    /// Writes a member that is a truth value.
    package mutating func member(_ name: StaticString, _ value: Bool) {
        self.name(name)
        bytes.append(contentsOf: value ? "true".utf8 : "false".utf8)
    }

    /// Writes a member that is an object.
    package mutating func member(
        _ name: StaticString,
        object members: (inout PlainJSONText) -> Void
    ) {
        self.name(name)
        object(members)
    }

    /// Writes a member that is an array of objects.
    package mutating func member<Element>(
        _ name: StaticString,
        objects elements: [Element],
        _ members: (inout PlainJSONText, Element) -> Void
    ) {
        self.name(name)
        array(of: elements, members)
    }

    /// Writes a member that is an array of strings.
    package mutating func member(_ name: StaticString, strings: [String]) {
        self.name(name)
        begin(UInt8(ascii: "["))
        for element in strings {
            comma()
            string(element)
            needsComma = true
        }
        end(UInt8(ascii: "]"))
    }

    /// Writes an array of objects.
    package mutating func array<Element>(
        of elements: [Element],
        _ members: (inout PlainJSONText, Element) -> Void
    ) {
        begin(UInt8(ascii: "["))
        for element in elements {
            comma()
            object { members(&$0, element) }
            needsComma = true
        }
        end(UInt8(ascii: "]"))
    }

    private mutating func begin(_ byte: UInt8) {
        bytes.append(byte)
        needsComma = false
    }

    private mutating func end(_ byte: UInt8) {
        bytes.append(byte)
        needsComma = true
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = false
    }

    private mutating func name(_ name: StaticString) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        )
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = true
    }

    private mutating func integer(_ value: Int64) {
        bytes.append(contentsOf: String(value).utf8)
    }

    private mutating func string(_ value: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x08: bytes.append(contentsOf: "\\b".utf8)
            case 0x0C: bytes.append(contentsOf: "\\f".utf8)
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case 0x00..<0x20:
                let digits = String(byte, radix: 16)
                bytes.append(contentsOf: (byte < 16 ? "\\u000" : "\\u00").utf8)
                bytes.append(contentsOf: digits.utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

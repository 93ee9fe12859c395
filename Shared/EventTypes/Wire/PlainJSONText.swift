/// Writes JSON objects member by member.
///
/// The bytes equal those of Foundation's encoder with sorted keys and unescaped slashes. The caller
/// writes the members in the order of their names.
package struct PlainJSONText {
    /// The text written so far.
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// Begins an empty text.
    package init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// The string as JSON writes it, quotes included.
    package static func string(_ value: String) -> String {
        var text = PlainJSONText(capacity: value.utf8.count + 2)
        text.string(value)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    /// Writes an object.
    package mutating func object(_ members: (inout PlainJSONText) -> Void) {
        begin(UInt8(ascii: "{"))
        members(&self)
        end(UInt8(ascii: "}"))
    }

    /// Writes a string member, or nothing if the value is `nil`.
    package mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        self.name(name)
        string(value)
    }

    /// Writes an integer member, or nothing if the value is `nil`.
    package mutating func member(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        self.name(name)
        integer(value)
    }

    /// Writes a timestamp member, or nothing if the value is `nil`.
    package mutating func member(_ name: StaticString, _ value: StoreTime?) {
        member(name, value?.millisecondsSinceEpoch)
    }

    /// Writes a Boolean member.
    package mutating func member(_ name: StaticString, _ value: Bool) {
        self.name(name)
        bytes.append(contentsOf: value ? "true".utf8 : "false".utf8)
    }

    /// Writes an object member.
    package mutating func member(
        _ name: StaticString,
        object members: (inout PlainJSONText) -> Void
    ) {
        self.name(name)
        object(members)
    }

    /// Writes a member whose value is JSON already.
    package mutating func member(_ name: StaticString, json value: [UInt8]) {
        self.name(name)
        bytes.append(contentsOf: value)
    }

    /// Writes a member with an array of objects.
    package mutating func member<Element>(
        _ name: StaticString,
        objects elements: [Element],
        _ members: (inout PlainJSONText, Element) -> Void
    ) {
        self.name(name)
        array(of: elements, members)
    }

    /// Writes a member with an array of strings.
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
        let isPlain = value.utf8.allSatisfy { byte in
            byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
        if isPlain {
            bytes.append(contentsOf: value.utf8)
        } else {
            escaped(value)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escaped(_ value: String) {
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
    }
}

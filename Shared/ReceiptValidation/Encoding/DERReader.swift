/// Reads DER from front to back, one element at a time, and only what the caller expects.
///
/// Made for bytes from anybody. It builds no tree and calls itself never, so that nesting costs
/// nothing: an element that nobody asks for is passed as a whole, whatever is in it. Lengths have the
/// one form that DER allows and never reach beyond the end. All of a reader's answers are slices.
package struct DERReader {
    /// The tags that receipts and certificates are made of.
    package enum Tag {
        package static let integer: UInt8 = 0x02
        package static let bitString: UInt8 = 0x03
        package static let octetString: UInt8 = 0x04
        package static let null: UInt8 = 0x05
        package static let objectIdentifier: UInt8 = 0x06
        package static let utf8String: UInt8 = 0x0C
        package static let ia5String: UInt8 = 0x16
        package static let sequence: UInt8 = 0x30
        package static let set: UInt8 = 0x31
        /// `[0]`, constructed.
        package static let contextZero: UInt8 = 0xA0
    }

    /// One element.
    package struct Element {
        /// Its first byte.
        package let tag: UInt8
        /// What it holds.
        package let content: ArraySlice<UInt8>
        /// All of it, tag and length included.
        package let whole: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    /// Begins to read.
    package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Whether nothing is left.
    package var isAtEnd: Bool { rest.isEmpty }

    /// The next element's tag, without reading it.
    package var nextTag: UInt8? { rest.first }

    /// Reads the next element, whatever it is.
    ///
    /// - Returns: `nil` at the end, or if the bytes are not DER.
    package mutating func next() -> Element? {
        var position = rest.startIndex
        guard rest.count >= 2 else { return nil }
        let tag = rest[position]
        // Tags of several bytes occur in nothing that is read here.
        guard tag & 0x1F != 0x1F else { return nil }
        var length = Int(rest[position + 1])
        position += 2
        if length >= 0x80 {
            let count = length & 0x7F
            guard (1...4).contains(count), rest.endIndex - position >= count else { return nil }
            length = rest[position..<(position + count)].reduce(0) { $0 << 8 | Int($1) }
            // One form only: the shortest.
            guard length >= 0x80, length >> (8 * (count - 1)) != 0 else { return nil }
            position += count
        }
        guard rest.endIndex - position >= length else { return nil }
        let end = position + length
        let element = Element(
            tag: tag,
            content: rest[position..<end],
            whole: rest[rest.startIndex..<end]
        )
        rest = rest[end...]
        return element
    }

    /// Reads the next element if it has a tag.
    ///
    /// - Returns: What it holds, or `nil` if it is another or not DER.
    package mutating func next(_ tag: UInt8) -> ArraySlice<UInt8>? {
        guard nextTag == tag else { return nil }
        return next()?.content
    }

    /// Reads a whole number of at most eight bytes that is not negative.
    package mutating func nextInteger() -> Int64? {
        guard let content = next(Tag.integer), let first = content.first else { return nil }
        return Self.integer(content, first)
    }

    /// Reads one element that is everything there is.
    package static func only(_ tag: UInt8, in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var reader = DERReader(bytes)
        guard let content = reader.next(tag), reader.isAtEnd else { return nil }
        return content
    }

    /// Reads one whole number that is everything there is.
    package static func onlyInteger(in bytes: ArraySlice<UInt8>) -> Int64? {
        var reader = DERReader(bytes)
        guard let value = reader.nextInteger(), reader.isAtEnd else { return nil }
        return value
    }

    private static func integer(_ content: ArraySlice<UInt8>, _ first: UInt8) -> Int64? {
        guard content.count <= 8, first < 0x80 else { return nil }
        // A zero in front is there only to keep the number from being negative.
        if first == 0, content.count > 1, content[content.startIndex + 1] < 0x80 { return nil }
        return content.reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// A reader for DER that returns one expected element after the other.
///
/// It is made for untrusted bytes. It builds no tree and is not recursive, so nested data costs
/// nothing: an element that the caller does not request is skipped as a whole. Lengths must have
/// the only form that DER allows and must not exceed the input. All results are slices of the
/// input.
package struct DERReader {
    /// The tags in receipts and certificates.
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

    /// An element.
    package struct Element {
        /// The first byte of the element.
        package let tag: UInt8
        /// The content of the element.
        package let content: ArraySlice<UInt8>
        /// The complete element with its tag and length.
        package let whole: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    /// Makes a reader.
    package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Whether all bytes have been read.
    package var isAtEnd: Bool { rest.isEmpty }

    /// The tag of the next element.
    ///
    /// It is not consumed.
    package var nextTag: UInt8? { rest.first }

    /// Reads the next element with any tag.
    ///
    /// - Returns: `nil` at the end, or if the bytes are not DER.
    package mutating func next() -> Element? {
        var position = rest.startIndex
        guard rest.count >= 2 else { return nil }
        let tag = rest[position]
        // Multi-byte tags do not occur in receipts or certificates.
        guard tag & 0x1F != 0x1F else { return nil }
        var length = Int(rest[position + 1])
        position += 2
        if length >= 0x80 {
            let count = length & 0x7F
            guard (1...4).contains(count), rest.endIndex - position >= count else { return nil }
            length = rest[position..<(position + count)].reduce(0) { $0 << 8 | Int($1) }
            // Only the shortest form is allowed.
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

    /// Reads the next element if it has a given tag.
    ///
    /// - Returns: Its content, or `nil` if the element has another tag or is not DER.
    package mutating func next(_ tag: UInt8) -> ArraySlice<UInt8>? {
        guard nextTag == tag else { return nil }
        return next()?.content
    }

    /// Reads a non-negative integer of at most eight bytes.
    package mutating func nextInteger() -> Int64? {
        guard let content = next(Tag.integer), let first = content.first else { return nil }
        return Self.integer(content, first)
    }

    /// Reads an element and requires that nothing follows.
    package static func only(_ tag: UInt8, in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var reader = DERReader(bytes)
        guard let content = reader.next(tag), reader.isAtEnd else { return nil }
        return content
    }

    /// Reads an integer and requires that nothing follows.
    package static func onlyInteger(in bytes: ArraySlice<UInt8>) -> Int64? {
        var reader = DERReader(bytes)
        guard let value = reader.nextInteger(), reader.isAtEnd else { return nil }
        return value
    }

    private static func integer(_ content: ArraySlice<UInt8>, _ first: UInt8) -> Int64? {
        guard content.count <= 8, first < 0x80 else { return nil }
        // A leading zero is allowed only if the number would otherwise be negative.
        if first == 0, content.count > 1, content[content.startIndex + 1] < 0x80 { return nil }
        return content.reduce(0) { $0 << 8 | Int64($1) }
    }
}

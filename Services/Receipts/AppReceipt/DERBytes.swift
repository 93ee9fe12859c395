/// Bytes that are assembled as DER.
///
/// The encoder is hand-written because a receipt of a thousand purchases has ten thousand elements
/// and has to be ready within milliseconds.
typealias DERBytes = [UInt8]

/// The tags that occur in receipts.
enum DERTag {
    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let utf8String: UInt8 = 0x0C
    static let ia5String: UInt8 = 0x16
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    /// `[0]`, constructed.
    static let contextZero: UInt8 = 0xA0
}

extension DERBytes {
    /// Encodes one element that contains the given parts in order.
    static func der(_ tag: UInt8, _ parts: DERBytes...) -> DERBytes {
        let length = parts.reduce(0) { $0 + $1.count }
        var bytes: DERBytes = []
        bytes.reserveCapacity(length + 6)
        bytes.appendDER(tag, length: length)
        for part in parts { bytes += part }
        return bytes
    }

    /// Encodes a set of elements, in the order that DER prescribes.
    static func derSet(_ tag: UInt8 = DERTag.set, of elements: [DERBytes]) -> DERBytes {
        let length = elements.reduce(0) { $0 + $1.count }
        var bytes: DERBytes = []
        bytes.reserveCapacity(length + 6)
        bytes.appendDER(tag, length: length)
        for element in elements.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            bytes += element
        }
        return bytes
    }

    /// Appends the tag and the length of an element.
    mutating func appendDER(_ tag: UInt8, length: Int) {
        append(tag)
        if length < 0x80 {
            append(UInt8(length))
        } else {
            let count = Self.derLengthLength(length) - 1
            append(0x80 | UInt8(count))
            for index in (0..<count).reversed() {
                append(UInt8(truncatingIfNeeded: length >> (8 * index)))
            }
        }
    }

    /// Appends a non-negative integer.
    mutating func appendDER(integer value: Int64) {
        let length = Self.derIntegerLength(value)
        append(DERTag.integer)
        append(UInt8(length))
        for index in (0..<length).reversed() {
            append(UInt8(truncatingIfNeeded: value >> (8 * Int64(index))))
        }
    }

    /// Returns the number of bytes of an element's encoded length.
    static func derLengthLength(_ length: Int) -> Int {
        length < 0x80 ? 1 : 1 + (Int.bitWidth - length.leadingZeroBitCount + 7) / 8
    }

    /// Returns the number of bytes of an integer's content, including the sign bit.
    static func derIntegerLength(_ value: Int64) -> Int {
        (Int64.bitWidth - value.leadingZeroBitCount) / 8 + 1
    }
}

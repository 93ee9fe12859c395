/// Bytes that are put together as DER.
///
/// Written by hand because a receipt of a thousand purchases has ten thousand elements, and is to be
/// there in milliseconds.
typealias DERBytes = [UInt8]

/// The tags that receipts are made of.
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
    /// One element that holds others, or bytes, one after the other.
    static func der(_ tag: UInt8, _ parts: DERBytes...) -> DERBytes {
        let length = parts.reduce(0) { $0 + $1.count }
        var bytes: DERBytes = []
        bytes.reserveCapacity(length + 6)
        bytes.appendDER(tag, length: length)
        for part in parts { bytes += part }
        return bytes
    }

    /// A set of elements, in the order that DER asks for.
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

    /// Appends the beginning of an element.
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

    /// Appends a whole number that is not negative.
    mutating func appendDER(integer value: Int64) {
        let length = Self.derIntegerLength(value)
        append(DERTag.integer)
        append(UInt8(length))
        for index in (0..<length).reversed() {
            append(UInt8(truncatingIfNeeded: value >> (8 * Int64(index))))
        }
    }

    /// How many bytes the length of an element takes.
    static func derLengthLength(_ length: Int) -> Int {
        length < 0x80 ? 1 : 1 + (Int.bitWidth - length.leadingZeroBitCount + 7) / 8
    }

    /// How many bytes the content of a whole number takes, with room for the sign.
    static func derIntegerLength(_ value: Int64) -> Int {
        (Int64.bitWidth - value.leadingZeroBitCount) / 8 + 1
    }
}

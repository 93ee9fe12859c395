import EventTypes

/// A set of receipt attributes in DER:
/// `SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`.
///
/// The elements are in the order that DER prescribes for a set, so the same attributes always give
/// the same bytes.
struct AttributeSet {
    private var attributes: [DERBytes] = []

    /// Creates an empty set.
    init(capacity: Int) { attributes.reserveCapacity(capacity) }

    /// Adds raw bytes.
    mutating func add(_ type: Int64, bytes: [UInt8]) {
        add(type, valueLength: bytes.count) { $0 += bytes }
    }

    /// Adds a text.
    mutating func add(_ type: Int64, text: String) { add(type, DERTag.utf8String, text.utf8) }

    /// Adds a time, which a receipt stores in whole seconds.
    mutating func add(_ type: Int64, date: StoreTime) {
        // 2026-11-21T02:00:00.000Z without its milliseconds.
        add(type, DERTag.ia5String, date.description.utf8.dropLast(5) + [UInt8(ascii: "Z")])
    }

    /// Adds a non-negative integer.
    mutating func add(_ type: Int64, integer: Int64) {
        add(type, valueLength: 2 + DERBytes.derIntegerLength(integer)) {
            $0.appendDER(integer: integer)
        }
    }

    /// Returns the encoded set.
    func encoded() -> DERBytes { .derSet(of: attributes) }

    /// Encodes a text as the value of an attribute.
    static func text(_ text: String) -> DERBytes { .der(DERTag.utf8String, Array(text.utf8)) }

    private mutating func add(_ type: Int64, _ tag: UInt8, _ content: some Collection<UInt8>) {
        let length = content.count
        add(type, valueLength: 1 + DERBytes.derLengthLength(length) + length) { bytes in
            bytes.appendDER(tag, length: length)
            bytes += content
        }
    }

    private mutating func add(
        _ type: Int64,
        valueLength: Int,
        _ appendValue: (inout DERBytes) -> Void
    ) {
        let valueElement = 1 + DERBytes.derLengthLength(valueLength) + valueLength
        let length = 2 + DERBytes.derIntegerLength(type) + 3 + valueElement
        var bytes: DERBytes = []
        bytes.reserveCapacity(length + 6)
        bytes.appendDER(DERTag.sequence, length: length)
        bytes.appendDER(integer: type)
        // Every attribute has the version 1.
        bytes.appendDER(integer: 1)
        bytes.appendDER(DERTag.octetString, length: valueLength)
        appendValue(&bytes)
        attributes.append(bytes)
    }
}

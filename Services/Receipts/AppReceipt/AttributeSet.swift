import EventTypes

/// A set of receipt attributes in DER:
/// `SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`.
///
/// The elements stand in the order that DER asks of a set, so that the same attributes always give the
/// same bytes.
struct AttributeSet {
    private var attributes: [DERBytes] = []

    /// Begins a set.
    init(capacity: Int) { attributes.reserveCapacity(capacity) }

    /// Adds bytes as they are.
    mutating func add(_ type: Int64, bytes: [UInt8]) {
        add(type, valueLength: bytes.count) { $0 += bytes }
    }

    /// Adds a text.
    mutating func add(_ type: Int64, text: String) { add(type, DERTag.utf8String, text.utf8) }

    /// Adds a moment; receipts know whole seconds.
    mutating func add(_ type: Int64, date: Timestamp) {
        // 2026-11-21T02:00:00.000Z without its milliseconds.
        add(type, DERTag.ia5String, date.description.utf8.dropLast(5) + [UInt8(ascii: "Z")])
    }

    /// Adds a whole number that is not negative.
    mutating func add(_ type: Int64, integer: Int64) {
        add(type, valueLength: 2 + DERBytes.derIntegerLength(integer)) {
            $0.appendDER(integer: integer)
        }
    }

    /// The set.
    func encoded() -> DERBytes { .derSet(of: attributes) }

    /// A text in the form that it has as an attribute's value.
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

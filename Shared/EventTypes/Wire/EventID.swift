/// The identifier of an event: a UUID of version 7, whose first 48 bits are the time of its
/// creation (RFC 9562, section 5.7).
///
/// A republished event keeps its id. Ids that increase with time keep indexes compact.
public struct EventID: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The 16 bytes, in network order.
    public let bytes: SIMD16<UInt8>

    /// Wraps the bytes of a UUID.
    public init(bytes: SIMD16<UInt8>) { self.bytes = bytes }

    /// Makes a new id.
    ///
    /// - Parameters:
    ///   - time: The time at the beginning of the id.
    ///   - randomBits: The source of its 74 random bits.
    public init(time: StoreTime, using randomBits: inout some RandomNumberGenerator) {
        let milliseconds = UInt64(bitPattern: time.millisecondsSinceEpoch)
        let high = (milliseconds << 16) | 0x7000 | (randomBits.next() & 0x0FFF)
        let low = 0x8000_0000_0000_0000 | (randomBits.next() & 0x3FFF_FFFF_FFFF_FFFF)
        var bytes = SIMD16<UInt8>()
        for index in 0..<8 {
            bytes[index] = UInt8(truncatingIfNeeded: high >> (56 - 8 * UInt64(index)))
            bytes[index + 8] = UInt8(truncatingIfNeeded: low >> (56 - 8 * UInt64(index)))
        }
        self.bytes = bytes
    }

    /// Reads a UUID in its usual form of 36 characters.
    ///
    /// - Returns: `nil` if the string is anything else.
    public init?(_ string: some StringProtocol) {
        self.init(utf8: Array(string.utf8))
    }

    /// Reads the UTF-8 of a UUID in its usual form of 36 characters.
    ///
    /// - Returns: `nil` if the bytes are anything else.
    public init?(utf8 characters: [UInt8]) {
        guard let id = characters.withUnsafeBufferPointer({ EventID(utf8: $0) }) else { return nil }
        self = id
    }

    /// Reads the same where it lies.
    ///
    /// - Returns: `nil` if the bytes are anything else.
    public init?(utf8 characters: UnsafeBufferPointer<UInt8>) {
        guard characters.count == 36, characters[8] == UInt8(ascii: "-"),
            characters[13] == UInt8(ascii: "-"), characters[18] == UInt8(ascii: "-"),
            characters[23] == UInt8(ascii: "-")
        else { return nil }
        var bytes = SIMD16<UInt8>()
        var position = 0
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 { position += 1 }
            guard let high = Self.value(ofDigit: characters[position]),
                let low = Self.value(ofDigit: characters[position + 1])
            else { return nil }
            bytes[index] = high << 4 | low
            position += 2
        }
        self.bytes = bytes
    }

    /// Returns the value of a hexadecimal digit in either case.
    private static func value(ofDigit character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The UUID in its usual form, in lower case.
    public var description: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var position = 0
            for index in 0..<16 {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    buffer[position] = UInt8(ascii: "-")
                    position += 1
                }
                buffer[position] = Self.digit(of: bytes[index] >> 4)
                buffer[position + 1] = Self.digit(of: bytes[index] & 0xF)
                position += 2
            }
            return 36
        }
    }

    private static func digit(of value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// Reads the id from a JSON string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = EventID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected a UUID"
            )
        }
        self = id
    }

    /// Writes the id as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

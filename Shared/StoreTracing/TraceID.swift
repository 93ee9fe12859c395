/// The id of a trace: 16 bytes, never all zero; 32 lower-case hexadecimal digits.
public struct TraceID: Hashable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// Reads 32 lower-case hexadecimal digits.
    ///
    /// - Returns: `nil` if the string is anything else, or all zeros.
    public init?(_ string: some StringProtocol) {
        let digits = Array(string.utf8)
        guard digits.count == 32 else { return nil }
        self.init(digits: digits[...])
    }

    init?(digits: ArraySlice<UInt8>) {
        let middle = digits.startIndex + 16
        guard let high = UInt64(digits: digits[..<middle]),
            let low = UInt64(digits: digits[middle...]), high != 0 || low != 0
        else { return nil }
        self.high = high
        self.low = low
    }

    /// Reads 16 bytes, which must not be all zero.
    init?(bytes: ArraySlice<UInt8>) {
        high = UInt64(bigEndianBytes: bytes.prefix(8))
        low = UInt64(bigEndianBytes: bytes.dropFirst(8))
        guard high != 0 || low != 0 else { return nil }
    }

    init(using randomBits: inout some RandomNumberGenerator) {
        high = randomBits.next()
        // An id of all zeros would be invalid.
        low = .random(in: 1 ... .max, using: &randomBits)
    }

    /// Appends the 16 bytes.
    func append(to bytes: inout [UInt8]) {
        high.append(to: &bytes)
        low.append(to: &bytes)
    }

    /// Writes 32 lower-case hexadecimal digits, from a position on.
    func write(to digits: UnsafeMutableBufferPointer<UInt8>, at position: Int) {
        high.write(to: digits, at: position)
        low.write(to: digits, at: position + 16)
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String {
        String(unsafeUninitializedCapacity: 32) { digits in
            write(to: digits, at: 0)
            return 32
        }
    }
}

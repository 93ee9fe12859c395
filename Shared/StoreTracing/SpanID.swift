/// The id of a span within its trace: 8 bytes, never all zero; 16 lower-case hexadecimal digits.
public struct SpanID: Hashable, Sendable, CustomStringConvertible {
    private let number: UInt64

    /// Reads 16 lower-case hexadecimal digits.
    ///
    /// - Returns: `nil` if the string is anything else, or all zeros.
    public init?(_ string: some StringProtocol) {
        let digits = Array(string.utf8)
        guard digits.count == 16 else { return nil }
        self.init(digits: digits[...])
    }

    init?(digits: ArraySlice<UInt8>) {
        guard let number = UInt64(digits: digits), number != 0 else { return nil }
        self.number = number
    }

    /// Reads 8 bytes, which must not be all zero.
    init?(bytes: ArraySlice<UInt8>) {
        number = UInt64(bigEndianBytes: bytes)
        guard number != 0 else { return nil }
    }

    init(using randomBits: inout some RandomNumberGenerator) {
        number = .random(in: 1 ... .max, using: &randomBits)
    }

    /// Appends the 8 bytes.
    func append(to bytes: inout [UInt8]) { number.append(to: &bytes) }

    /// Writes 16 lower-case hexadecimal digits, from a position on.
    func write(to digits: UnsafeMutableBufferPointer<UInt8>, at position: Int) {
        number.write(to: digits, at: position)
    }

    /// 16 lower-case hexadecimal digits.
    public var description: String {
        String(unsafeUninitializedCapacity: 16) { digits in
            write(to: digits, at: 0)
            return 16
        }
    }
}

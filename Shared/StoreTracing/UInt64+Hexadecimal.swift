extension UInt64 {
    /// Reads up to 16 lower-case hexadecimal digits.
    init?(digits: ArraySlice<UInt8>) {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case 0x30...0x39: value = value << 4 | UInt64(digit - 0x30)
            case 0x61...0x66: value = value << 4 | UInt64(digit - 0x61 + 10)
            default: return nil
            }
        }
        self = value
    }

    /// Reads 8 bytes, the highest first.
    init(bigEndianBytes bytes: ArraySlice<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Appends the 8 bytes, the highest first.
    func append(to bytes: inout [UInt8]) {
        Swift.withUnsafeBytes(of: bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Writes 16 lower-case hexadecimal digits, from a position on.
    func write(to digits: UnsafeMutableBufferPointer<UInt8>, at position: Int) {
        for index in 0..<16 {
            let value = UInt8(truncatingIfNeeded: self >> UInt64(60 - 4 * index)) & 0xF
            digits[position + index] = value < 10 ? 0x30 + value : 0x61 + value - 10
        }
    }
}

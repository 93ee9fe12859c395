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

    /// The 8 bytes, the highest first.
    var bigEndianBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: self >> UInt64(56 - 8 * $0)) }
    }

    /// 16 lower-case hexadecimal digits.
    var hexadecimal: String {
        String(unsafeUninitializedCapacity: 16) { digits in
            for index in 0..<16 {
                let value = UInt8(truncatingIfNeeded: self >> UInt64(60 - 4 * index)) & 0xF
                digits[index] = value < 10 ? 0x30 + value : 0x61 + value - 10
            }
            return 16
        }
    }
}

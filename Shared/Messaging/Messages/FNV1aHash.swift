/// A hash of bytes that is the same in every process, unlike Swift's own: FNV-1a.
struct FNV1aHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    init(_ text: String) {
        for byte in text.utf8 { mix(byte) }
    }

    mutating func mix(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
}

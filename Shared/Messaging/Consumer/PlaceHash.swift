/// The bits of an id that is the hash (FNV-1a) of a place in a log, so every attempt gives the same
/// id.
struct PlaceHash: RandomNumberGenerator {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    init(_ place: String) {
        for byte in place.utf8 { mix(byte) }
    }

    mutating func next() -> UInt64 {
        mix(0)
        return state
    }

    private mutating func mix(_ byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
}

/// The bits of an id that is the hash of a place in a log, so every attempt gives the same id.
struct PlaceHash: RandomNumberGenerator {
    private var hash: FNV1aHash

    init(_ place: String) { hash = FNV1aHash(place) }

    mutating func next() -> UInt64 {
        hash.mix(0)
        return hash.value
    }
}

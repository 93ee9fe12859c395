import EventTypes

/// The ids of the tries to charge for a subscription's next period.
///
/// They follow from the subscription, the period and the number of the try alone. So a store that has
/// lost a try makes the same id again, and finds all tries of the period by their ids (rule S524). The
/// form is a UUID of version 8 (RFC 9562, section 5.8). The last 24 bits are the number of the try.
extension AttemptID {
    /// The number of bytes that all tries of one period share.
    private static let periodLength = 13

    /// Makes the id of a try.
    ///
    /// It is `nil` if a number has too many bits, which no subscription reaches.
    init?(of key: RenewalChargeKey) {
        guard let number = UInt64(exactly: key.subscriptionID.number), number < 1 << 60,
            let epoch = UInt64(exactly: key.epoch), epoch < 1 << 16,
            let period = UInt64(exactly: key.period), period < 1 << 22,
            let attempt = UInt64(exactly: key.attempt), attempt < 1 << 24
        else { return nil }
        let version: UInt64 = 0x8000
        let variant: UInt64 = 0x8000_0000_0000_0000
        let high: UInt64 = ((number >> 12) << 16) | version | (number & 0xFFF)
        let low: UInt64 = variant | (epoch << 46) | (period << 24) | attempt
        var bytes = SIMD16<UInt8>()
        for index in 0..<16 {
            let word = index < 8 ? high : low
            bytes[index] = UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64(index % 8)))
        }
        self.init(bytes: bytes)
    }

    /// The greatest id that a try of the same period can have.
    var lastOfPeriod: AttemptID {
        var bytes = bytes
        for index in Self.periodLength..<16 { bytes[index] = 0xFF }
        return AttemptID(bytes: bytes)
    }

    /// Whether another id is of this try, or of a later one for the same period.
    func reaches(_ other: AttemptID) -> Bool {
        for index in 0..<16 where bytes[index] != other.bytes[index] {
            return index >= Self.periodLength && bytes[index] < other.bytes[index]
        }
        return true
    }
}

import EventTypes

/// How many requests one key may make: so many a second, and as many at once after a pause.
///
/// Pure: a bucket that fills with time and empties with requests.
struct RequestAllowance: Sendable {
    private let ratePerSecond: Int
    /// In thousandths of a request.
    private var left: Int64
    private var filledAt: Timestamp

    /// A full bucket.
    init(ratePerSecond: Int, at now: Timestamp) {
        self.ratePerSecond = ratePerSecond
        left = Int64(ratePerSecond) * 1000
        filledAt = now
    }

    /// Takes one request.
    ///
    /// - Returns: `nil` if it may be made, else how long to wait.
    mutating func take(at now: Timestamp) -> Duration? {
        // Thousandths for each millisecond are requests for each second; a clock that was set back
        // fills nothing, and goes on from where it stands.
        let elapsed = min(max(0, now.duration(since: filledAt).milliseconds), 1000)
        left = min(left + elapsed * Int64(ratePerSecond), Int64(ratePerSecond) * 1000)
        filledAt = now
        guard left >= 1000 else {
            let missing = 1000 - left
            return .milliseconds((missing + Int64(ratePerSecond) - 1) / Int64(ratePerSecond))
        }
        left -= 1000
        return nil
    }
}

import EventTypes

/// The rate limit of one key: a number of requests per second, and the same number at once after a
/// pause.
///
/// Pure: a token bucket that fills with time and empties with requests.
struct RequestAllowance: Sendable {
    private let ratePerSecond: Int
    /// The remaining allowance, in thousandths of a request.
    private var left: Int64
    private var filledAt: MachineTime

    /// Makes a full bucket.
    init(ratePerSecond: Int, at now: MachineTime) {
        self.ratePerSecond = ratePerSecond
        left = Int64(ratePerSecond) * 1000
        filledAt = now
    }

    /// Takes one request from the bucket.
    ///
    /// - Returns: `nil` if the request is allowed, otherwise the time to wait.
    mutating func take(at now: MachineTime) -> Duration? {
        // Requests per second equal thousandths of a request per millisecond. If the clock was set
        // back, nothing is filled, and time counts from the new reading.
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

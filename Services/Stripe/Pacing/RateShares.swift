/// The calls a second that each kind of work may make, so that none of them starves another.
///
/// Pure: the time is an argument.
///
/// Each lane has a bucket that fills at its share of the rate. What a full bucket cannot hold goes
/// into a common one, from which every lane may take. So an idle lane lends its share, and gets it
/// back at once: its own bucket is still full.
package struct RateShares: Hashable, Sendable {
    /// The kinds of work.
    package enum Lane: String, Hashable, Sendable, CaseIterable {
        case buyers, refunds, inquiries, renewals
        /// Saving payment methods, which any account may ask for.
        case setups

        /// The lane's share of the rate, in hundredths.
        var share: Double {
            switch self {
            case .buyers: 60
            case .refunds, .inquiries, .renewals, .setups: 10
            }
        }
    }

    /// The greatest number of calls a second, over all lanes.
    package let rate: Double
    private var buckets: [Lane: Bucket]
    private var common: Bucket
    private var filled = Duration.zero

    private struct Bucket: Hashable, Sendable {
        let capacity: Double
        var level: Double

        init(capacity: Double) {
            self.capacity = capacity
            level = capacity
        }

        /// Adds to the bucket.
        ///
        /// - Returns: What did not fit.
        mutating func fill(_ amount: Double) -> Double {
            let sum = level + amount
            level = min(sum, capacity)
            return sum - level
        }
    }

    /// Makes full buckets.
    ///
    /// - Parameter rate: The calls a second. At any time at most this many can be made at once.
    /// - Precondition: It is at least 10, so that every lane has room for a call.
    package init(rate: Double) {
        precondition(rate >= 10, "Every lane needs room for one call.")
        self.rate = rate
        // A lane holds one second's share at least for one call; the rest of a second is common.
        buckets = Dictionary(
            uniqueKeysWithValues: Lane.allCases.map { lane in
                (lane, Bucket(capacity: max(1, rate * lane.share / 200)))
            }
        )
        let held = buckets.values.reduce(0) { $0 + $1.capacity }
        common = Bucket(capacity: max(0, rate - held))
    }

    /// Takes the right to one call.
    ///
    /// - Parameters:
    ///   - lane: The kind of work.
    ///   - time: The time since a fixed moment. An earlier time than before counts as the same.
    /// - Returns: `nil` if the call may be made, or how long to wait before asking again.
    package mutating func take(_ lane: Lane, at time: Duration) -> Duration? {
        fill(until: time)
        if let level = buckets[lane]?.level, level >= 1 {
            buckets[lane]?.level -= 1
            return nil
        }
        if common.level >= 1 {
            common.level -= 1
            return nil
        }
        return wait(of: lane)
    }

    /// The time until the lane's own bucket or the common one has enough, whichever is first.
    ///
    /// Other lanes may take from the common one meanwhile, so the caller asks again.
    private func wait(of lane: Lane) -> Duration {
        let own = (1 - (buckets[lane]?.level ?? 0)) / speed(of: lane)
        let overflow = Lane.allCases.filter { other in
            buckets[other].map { $0.level >= $0.capacity } ?? false
        }
        let lent = overflow.reduce(0) { $0 + speed(of: $1) }
        return .seconds(lent > 0 ? min(own, (1 - common.level) / lent) : own)
    }

    /// The calls a second that the lane's own bucket gets.
    private func speed(of lane: Lane) -> Double { rate * lane.share / 100 }

    private mutating func fill(until time: Duration) {
        guard time > filled else { return }
        let seconds = (time - filled) / .seconds(1)
        filled = time
        var overflow = 0.0
        for lane in Lane.allCases {
            let added = speed(of: lane) * seconds
            overflow += buckets[lane]?.fill(added) ?? 0
        }
        _ = common.fill(overflow)  // What fits nowhere is a pause in which nobody called.
    }
}

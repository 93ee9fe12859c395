/// The calls a second that each kind of work may make, so that none of them starves another.
///
/// Pure: the time is an argument.
///
/// Each lane has a bucket that fills at its share of the rate. What a full bucket cannot hold goes
/// into a common one, from which every lane may take. So an idle lane lends its share, and gets it
/// back at once: its own bucket is still full.
///
/// Stripe limits the calls of an account and also those to one endpoint. The lanes that call the same
/// endpoint share its rate in the same way.
package struct RateShares: Hashable, Sendable {
    /// The kinds of work.
    package enum Lane: String, Hashable, Sendable, CaseIterable {
        case buyers, refunds, inquiries, renewals
        /// Saving payment methods, which any account may ask for.
        case setups

        /// The lane's share of the rate, in hundredths.
        fileprivate var share: Double {
            switch self {
            case .buyers: 60
            case .refunds, .inquiries, .renewals, .setups: 10
            }
        }

        /// The lanes of each endpoint.
        ///
        /// A charge is the same call with its buyer and without. A lane that calls several endpoints
        /// counts as if it called one, so it stays below the limit of each.
        fileprivate static let byEndpoint: [[Lane]] = [
            [.buyers, .renewals], [.refunds], [.inquiries], [.setups],
        ]
    }

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

    /// A rate, and the buckets of the lanes that share it.
    private struct Limit: Hashable, Sendable {
        /// The calls a second that are each lane's own.
        let speeds: [Lane: Double]
        var buckets: [Lane: Bucket]
        var common: Bucket

        /// Makes full buckets.
        init(rate: Double, of lanes: [Lane]) {
            let sum = lanes.reduce(0) { $0 + $1.share }
            let speeds = Dictionary(
                uniqueKeysWithValues: lanes.map { ($0, rate * $0.share / sum) }
            )
            // A lane holds half a second's share, and at least one call; the rest is common.
            let buckets = speeds.mapValues { Bucket(capacity: max(1, $0 / 2)) }
            let held = buckets.values.reduce(0) { $0 + $1.capacity }
            self.speeds = speeds
            self.buckets = buckets
            common = Bucket(capacity: max(0, rate - held))
        }

        /// The time until a lane's own bucket or the common one has enough; `nil` if one has.
        ///
        /// Other lanes may take from the common one meanwhile, so the caller asks again. A lane that
        /// has no bucket here does not wait.
        func wait(of lane: Lane) -> Duration? {
            guard let level = buckets[lane]?.level, let speed = speeds[lane], level < 1,
                common.level < 1
            else { return nil }
            let own = (1 - level) / speed
            let lending = Lane.allCases.filter { other in
                buckets[other].map { $0.level >= $0.capacity } ?? false
            }
            let lent = lending.reduce(0) { $0 + (speeds[$1] ?? 0) }
            return .seconds(lent > 0 ? min(own, (1 - common.level) / lent) : own)
        }

        /// Takes the right to one call, of which there is one.
        mutating func take(_ lane: Lane) {
            guard let level = buckets[lane]?.level else { return }
            if level >= 1 { buckets[lane]?.level -= 1 } else { common.level -= 1 }
        }

        mutating func fill(for seconds: Double) {
            var overflow = 0.0
            for lane in Lane.allCases {
                let added = (speeds[lane] ?? 0) * seconds
                overflow += buckets[lane]?.fill(added) ?? 0
            }
            _ = common.fill(overflow)  // What fits nowhere is a pause in which nobody called.
        }
    }

    /// The limit of all calls, and those of the endpoints.
    private var limits: [Limit]
    private var filled = Duration.zero

    /// Makes full buckets.
    ///
    /// - Parameters:
    ///   - rate: The calls a second. At any time at most this many can be made at once.
    ///   - endpointRate: The calls a second to one endpoint; `nil` if only `rate` limits them.
    /// - Precondition: `rate` is at least 10 and `endpointRate` at least 5, so that every lane has
    ///   room for a call.
    package init(rate: Double, endpointRate: Double? = nil) {
        precondition(rate >= 10, "Every lane needs room for one call.")
        var limits = [Limit(rate: rate, of: Lane.allCases)]
        if let endpointRate {
            precondition(endpointRate >= 5, "Every lane of an endpoint needs room for one call.")
            limits += Lane.byEndpoint.map { Limit(rate: endpointRate, of: $0) }
        }
        self.limits = limits
    }

    /// Takes the right to one call.
    ///
    /// - Parameters:
    ///   - lane: The kind of work.
    ///   - time: The time since a fixed moment. An earlier time than before counts as the same.
    /// - Returns: `nil` if the call may be made, or how long to wait before asking again.
    package mutating func take(_ lane: Lane, at time: Duration) -> Duration? {
        fill(until: time)
        if let longest = limits.compactMap({ $0.wait(of: lane) }).max() { return longest }
        for place in limits.indices { limits[place].take(lane) }
        return nil
    }

    private mutating func fill(until time: Duration) {
        guard time > filled else { return }
        let seconds = (time - filled) / .seconds(1)
        filled = time
        for place in limits.indices { limits[place].fill(for: seconds) }
    }
}

import EventTypes
import OperatorCore

/// The time from events to their effects, over the last minute.
///
/// Pure.
struct NowHops: Hashable, Sendable {
    /// The time over which events are counted.
    static let window: Duration = .seconds(60)
    /// The time between two readings.
    static let step: Duration = .seconds(10)
    /// The longest time between two readings; after a longer one, nobody looked, and it begins anew.
    static let pauseMax: Duration = .seconds(30)
    /// The consumers, with the topics that they act on at once.
    static let pairs: [(consumer: OperatedService, topic: String)] = Topics.all.filter {
        !$0.isDelayed
    }.flatMap { topic in
        topic.consumers.compactMap { consumer in
            OperatedService(rawValue: consumer.rawValue).map {
                (consumer: $0, topic: topic.name)
            }
        }
    }

    private struct Reading: Hashable {
        let time: MachineTime
        let counts: [OperatedService: HopCounts]
    }

    private var readings: [Reading] = []

    /// Whether it is time for another reading.
    func isDue(at now: MachineTime) -> Bool {
        guard let last = readings.last else { return true }
        let age = now.duration(since: last.time)
        // A clock that was set back must not stop the readings.
        return age >= Self.step || age < .zero
    }

    /// Adds a reading.
    mutating func add(_ counts: [OperatedService: HopCounts], at now: MachineTime) {
        if let last = readings.last {
            let age = now.duration(since: last.time)
            if age > Self.pauseMax || age < .zero { readings = [] }
        }
        readings.append(Reading(time: now, counts: counts))
        readings.removeAll { now.duration(since: $0.time) > Self.window }
    }

    /// The name of the place that has a consumer's times.
    static func key(of consumer: OperatedService, _ topic: String) -> String {
        "hop.\(consumer.rawValue).\(topic)"
    }

    /// The times, by the names of their places on the page.
    var fields: [String: NowField] {
        var fields: [String: NowField] = [:]
        for (consumer, topic) in Self.pairs {
            fields[Self.key(of: consumer, topic)] = field(of: consumer, topic)
        }
        return fields
    }

    private func field(of consumer: OperatedService, _ topic: String) -> NowField {
        guard let newest = readings.last else { return NowField("…") }
        guard let now = newest.counts[consumer] else { return NowField("unknown", .warn) }
        // Another replica, and a process that was started again, count from zero.
        let first = readings.first { $0.counts[consumer]?.process == now.process }
        guard let first, first.time < newest.time else { return NowField("…") }
        var earlier: [Double: Int] = [:]
        for bucket in first.counts[consumer]?.topics[topic] ?? [] {
            earlier[bucket.seconds] = bucket.events
        }
        let buckets = (now.topics[topic] ?? []).map {
            (seconds: $0.seconds, events: $0.events - (earlier[$0.seconds] ?? 0))
        }
        guard let all = buckets.last?.events, all > 0 else { return NowField("no events") }
        /// The shortest time within which a percentage of the events had their effects.
        func time(of percent: Int) -> Double {
            buckets.first { $0.events * 100 >= all * percent }?.seconds ?? .infinity
        }
        let longest = buckets.last { $0.seconds.isFinite }?.seconds ?? 0
        return Self.field(half: time(of: 50), most: time(of: 99), longest: longest)
    }

    private static func field(half: Double, most: Double, longest: Double) -> NowField {
        guard half.isFinite else { return NowField("half in more than \(text(longest))", .bad) }
        let words = "half within \(text(half))"
        guard most.isFinite else {
            return NowField("\(words), some in more than \(text(longest))", .warn)
        }
        return NowField("\(words), 99 % within \(text(most))")
    }

    /// A time for people: `0.5 ms`, `25 ms`, `2.5 s`.
    private static func text(_ seconds: Double) -> String {
        let (value, unit) = seconds < 1 ? (seconds * 1000, "ms") : (seconds, "s")
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}

import EventTypes
import OperatorCore

/// The purchases of the last minutes, as a line.
///
/// Pure.
struct NowLine: Hashable, Sendable {
    /// The time that the line shows.
    static let window: Duration = .seconds(300)
    /// The time of one point of the line.
    static let step: Duration = .seconds(10)
    /// The size of the picture, in the units of its points.
    static let size = (width: 290, height: 60)

    private struct Count: Hashable {
        let from: MachineTime
        let to: MachineTime
        let purchased: Int
        let isCut: Bool

        /// The purchases in a part of the time, as if they were spread evenly, and the seconds of it.
        func part(from start: MachineTime, to end: MachineTime) -> (events: Double, time: Double) {
            let time = min(to, end).duration(since: max(from, start)) / .seconds(1)
            let whole = to.duration(since: from) / .seconds(1)
            guard time > 0, whole > 0 else { return (0, 0) }
            return (Double(purchased) * time / whole, time)
        }
    }

    private var counts: [Count] = []
    private var last: MachineTime?

    /// Adds the events between the last count and this one.
    ///
    /// As the rates, it begins anew when nobody has looked for a while.
    mutating func add(_ found: EventCounts, at now: MachineTime) {
        defer { last = now }
        guard let last, now.duration(since: last) <= NowRates.pauseMax else {
            counts = []
            return
        }
        let purchased = found.types[EventType.transactionPurchased.rawValue] ?? 0
        counts.append(Count(from: last, to: now, purchased: purchased, isCut: found.isCut))
        counts.removeAll { now.duration(since: $0.to) >= Self.window }
    }

    /// The line and its words, by the names of their places on the page.
    var fields: [String: NowField] {
        ["line.points": NowField(points), "line.words": NowField(words)]
    }

    /// The purchases a second in each step, oldest first; `nil` where they are not known.
    private var rates: [Double?] {
        guard let end = counts.last?.to else { return [] }
        let number = Int(Self.window / Self.step)
        // A shorter time would tell of a peak that there was not.
        let shortest = Self.step / .seconds(2)
        return (0..<number).map { index -> Double? in
            let start = end.advanced(by: Self.step * (index - number))
            var (events, time) = (0.0, 0.0)
            for count in counts {
                let part = count.part(from: start, to: start.advanced(by: Self.step))
                events += part.events
                time += part.time
            }
            return time < shortest ? nil : events / time
        }
    }

    /// The points as SVG has them; the greatest rate touches the upper edge.
    private var points: String {
        let found = rates
        let top = max(found.compactMap(\.self).max() ?? 0, 1)
        let room = Double(Self.size.height - 2)
        let places = found.enumerated().compactMap { index, rate -> String? in
            guard let rate else { return nil }
            let x = index * Self.size.width / (found.count - 1)
            return "\(x),\(Self.size.height - 1 - Int((rate / top * room).rounded()))"
        }
        return places.joined(separator: " ")
    }

    private var words: String {
        let known = rates.compactMap(\.self)
        guard let highest = known.max(), let first = counts.first, let end = counts.last?.to else {
            return "The line of purchases begins in a few seconds."
        }
        let time = min(end.duration(since: first.from), Self.window)
        let average = known.reduce(0, +) / Double(known.count)
        let more = counts.contains(where: \.isCut) ? "more than " : ""
        return """
            Purchases of the last \(Age(milliseconds: time.milliseconds)): \
            \(more)\(Self.text(of: average)) a second on average, \
            \(more)\(Self.text(of: highest)) at the peak.
            """
    }

    private static func text(of rate: Double) -> String {
        rate > 0 ? NowRates.text(of: rate) : "0"
    }
}

import EventTypes
import OperatorCore

/// The purchases of the last seconds, from the events that were counted in them.
///
/// Pure.
struct NowRates: Hashable, Sendable {
    /// The time over which a rate is taken.
    static let window: Duration = .seconds(10)
    /// The longest time between two counts; after a longer one, nobody looked, and it begins anew.
    static let pauseMax: Duration = .seconds(20)
    /// The types of events that are shown, with the words for them.
    static let kinds: [(type: EventType, name: String, words: String)] = [
        (.transactionPurchasing, "accepted", "payments accepted"),
        (.transactionPurchased, "purchased", "purchased"),
        (.transactionFailed, "failed", "failed"),
        (.transactionRefunded, "refunded", "refunded"),
    ]

    private struct Count: Hashable {
        let from: MachineTime
        let to: MachineTime
        let types: [String: Int]
        let isCut: Bool
    }

    private var counts: [Count] = []
    private var last: MachineTime?

    /// Adds the events between the last count and this one.
    mutating func add(_ found: EventCounts, at now: MachineTime) {
        defer { last = now }
        guard let last, now.duration(since: last) <= Self.pauseMax else {
            counts = []
            return
        }
        counts.append(Count(from: last, to: now, types: found.types, isCut: found.isCut))
        counts.removeAll { now.duration(since: $0.to) >= Self.window }
    }

    /// The rates, by the names of their places on the page.
    var fields: [String: NowField] {
        var fields: [String: NowField] = [:]
        for kind in Self.kinds { fields["rate.\(kind.name)"] = field(of: kind.type) }
        return fields
    }

    private func field(of type: EventType) -> NowField {
        guard let first = counts.first, let end = counts.last else { return NowField("…") }
        let seconds = end.to.duration(since: first.from) / .seconds(1)
        guard seconds > 0 else { return NowField("…") }
        let number = counts.reduce(0) { $0 + ($1.types[type.rawValue] ?? 0) }
        guard number > 0 else { return NowField("0 a second") }
        let rate = Double(number) / seconds
        let more = counts.contains(where: \.isCut) ? "more than " : ""
        return NowField("\(more)\(Self.text(of: rate)) a second")
    }

    /// A rate for people: `0.3`, `12.5`, `1,250`.
    static func text(of rate: Double) -> String {
        guard rate < 100 else { return Int(rate.rounded()).grouped }
        let tenths = max(1, Int((rate * 10).rounded()))
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

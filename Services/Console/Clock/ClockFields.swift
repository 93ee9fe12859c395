import EventTypes
import OperatorCore
import StoreAPI

/// The values of the clock's page, by the names of their places.
enum ClockFields {
    /// The names of the values, with the words for them.
    static let names = [
        ("now", "store’s time"), ("motion", "how it runs"), ("advance", "the newest advance"),
        ("waits", "it waits for"), ("done", "done in it"),
    ]

    /// All values of a clock.
    static func fields(of clock: ClockResponse) -> [String: NowField] {
        [
            "now": NowField(PlainWords.second(clock.now)), "motion": NowField(motion(of: clock)),
            "advance": advance(of: clock),
            "waits": NowField(
                (clock.waitsFor ?? []).isEmpty
                    ? "nothing" : (clock.waitsFor ?? []).joined(separator: ", "),
                (clock.waitsFor ?? []).isEmpty ? .plain : .warn
            ),
            "done": NowField(done(in: clock)),
        ]
    }

    /// The part of the newest advance that is done, in percent; `nil` if none is under way.
    static func progress(of clock: ClockResponse) -> Int? {
        guard clock.status != .ready, let start = clock.start, let target = clock.target else {
            return nil
        }
        let whole = target.millisecondsSinceEpoch - start.millisecondsSinceEpoch
        let part = clock.now.millisecondsSinceEpoch - start.millisecondsSinceEpoch
        return whole > 0 ? Int(max(0, min(100, part * 100 / whole))) : 100
    }

    private static func motion(of clock: ClockResponse) -> String {
        switch clock.mode {
        case .machines: return "as the machines; nobody has set it"
        case .frozen: return "frozen"
        case .running:
            let rate = clock.rate ?? "an unknown rate"
            let end = clock.end.map {
                " until \(PlainWords.second($0)), when the receipts’ certificates end"
            }
            return "at \(rate)\(end ?? "")"
        }
    }

    private static func advance(of clock: ClockResponse) -> NowField {
        guard let target = clock.target else { return NowField("none yet") }
        let time = PlainWords.second(target)
        switch clock.status {
        case .ready: return NowField("reached \(time)", .good)
        case .advancing:
            return NowField("on its way to \(time), \(progress(of: clock) ?? 0) %", .warn)
        case .failed:
            return NowField("to \(time) failed: \(clock.failure ?? "no reason given")", .bad)
        }
    }

    private static func done(in clock: ClockResponse) -> String {
        let done = (clock.done ?? [:]).sorted { $0.key < $1.key }
        return done.isEmpty
            ? "nothing" : done.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}

package import EventTypes

/// A time span, as people say it.
package struct Age: Hashable, Sendable, CustomStringConvertible {
    /// The length, in milliseconds.
    package let milliseconds: Int64

    /// The time between two moments, and zero if the first is later.
    package init<Time: PointInTime>(of time: Time, at now: Time) {
        milliseconds = max(0, now.duration(since: time).milliseconds)
    }

    /// Makes a span of milliseconds.
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Two units at most: `850 ms`, `12 s`, `3 min 20 s`, `5 h 2 min`, `3 d 4 h`.
    package var description: String {
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        let seconds = milliseconds / 1000
        let units: [(Int64, String)] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")]
        guard let first = units.firstIndex(where: { seconds >= $0.0 }) else { return "0 s" }
        let (size, name) = units[first]
        let text = "\(seconds / size) \(name)"
        guard first + 1 < units.count else { return text }
        let (next, nextName) = units[first + 1]
        let rest = seconds % size / next
        return rest == 0 ? text : text + " \(rest) \(nextName)"
    }
}

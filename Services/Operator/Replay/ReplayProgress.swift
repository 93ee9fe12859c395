import OperatorCore
import Synchronization

/// Shows a replay's progress with a bar, its rate, and the time left.
final class ReplayProgress: Sendable {
    private let total: Int
    private let begunAt = ContinuousClock.now
    private let begunWith = Mutex<Int?>(nil)
    private let line = ProgressLine()

    init(total: Int) { self.total = total }

    /// Reports the number of events that are done.
    func show(_ done: Int) {
        let before = begunWith.withLock { begunWith in
            let before = begunWith ?? done
            begunWith = before
            return before
        }
        let seconds = max((ContinuousClock.now - begunAt) / .seconds(1), 0.001)
        let rate = Double(done - before) / seconds
        line.show(isLast: done >= total, Self.line(done, of: total, rate: rate))
    }

    /// `[##########----------]  50 %  500 of 1000  100/s  5 s left`.
    static func line(_ done: Int, of total: Int, rate: Double) -> String {
        let share = total == 0 ? 1 : min(1, Double(done) / Double(total))
        let filled = Int(share * 20)
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: 20 - filled)
        var line = "[\(bar)] \(Int(share * 100)) %  \(done) of \(total)"
        if rate >= 1 {
            line += "  \(Int(rate))/s"
            let left = Double(max(0, total - done)) / rate
            line += "  \(Age(milliseconds: Int64(left * 1000))) left"
        }
        return line
    }
}

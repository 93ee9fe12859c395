import Foundation
import Synchronization

/// Tells how far a replay is, on standard error: a bar on a terminal, else a line every few seconds.
final class ReplayProgress: Sendable {
    private struct State {
        var begunAt = ContinuousClock.now
        var begunWith: Int?
        var saidAt: ContinuousClock.Instant?
    }

    private let total: Int
    private let isTerminal: Bool
    private let state = Mutex(State())
    private let write: @Sendable (String) -> Void

    init(
        total: Int,
        isTerminal: Bool = isatty(STDERR_FILENO) == 1,
        write: @escaping @Sendable (String) -> Void = {
            FileHandle.standardError.write(Data($0.utf8))
        }
    ) {
        self.total = total
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Says how many events are done.
    func show(_ done: Int) {
        let now = ContinuousClock.now
        let line: String? = state.withLock { state in
            let begunWith = state.begunWith ?? done
            state.begunWith = begunWith
            let interval: Duration = isTerminal ? .milliseconds(200) : .seconds(5)
            if done < total, let saidAt = state.saidAt, now - saidAt < interval { return nil }
            state.saidAt = now
            let seconds = (now - state.begunAt) / .seconds(1)
            return Self.line(done, of: total, rate: Double(done - begunWith) / max(seconds, 0.001))
        }
        guard let line else { return }
        write(isTerminal ? "\r\u{1B}[K\(line)\(done >= total ? "\n" : "")" : line + "\n")
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

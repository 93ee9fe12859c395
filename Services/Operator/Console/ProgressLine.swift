import Foundation
import Synchronization

/// The progress of a long command, on standard error.
///
/// On a terminal one line is overwritten; elsewhere a new line is printed now and then.
final class ProgressLine: Sendable {
    private struct State {
        var saidAt: ContinuousClock.Instant?
        var isOpen = false
    }

    private let isTerminal: Bool
    private let state = Mutex(State())

    init(isTerminal: Bool = isatty(STDERR_FILENO) == 1) { self.isTerminal = isTerminal }

    /// Shows the progress, unless something was shown a moment ago.
    ///
    /// - Parameters:
    ///   - isLast: Whether nothing comes after it; it is shown in any case, and stays.
    ///   - text: The line, asked for only if it is shown.
    func show(isLast: Bool = false, _ text: @autoclosure () -> String) {
        let now = ContinuousClock.now
        let pause: Duration = isTerminal ? .milliseconds(200) : .seconds(5)
        let isDue = state.withLock { state in
            if !isLast, let saidAt = state.saidAt, now - saidAt < pause { return false }
            state.saidAt = now
            state.isOpen = isTerminal && !isLast
            return true
        }
        guard isDue else { return }
        write(isTerminal ? "\r\u{1B}[K\(text())\(isLast ? "\n" : "")" : text() + "\n")
    }

    /// Removes a line that was not the last one.
    func end() {
        let isOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        if isOpen { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}

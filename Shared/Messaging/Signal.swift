import Synchronization

/// Wakes one task from another.
///
/// Several signals during one piece of work wake the listener once.
///
/// It does not use an `AsyncStream`: such a stream ends for good as soon as one waiting task is
/// cancelled, and a wait with a time limit must cancel.
public final class Signal: Sendable {
    private struct State {
        var isGiven = false
        /// Whether the present wait ended before its listener was there.
        var isOver = false
        var listener: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Makes a signal that has not been given.
    public init() {}

    /// Wakes the listener, or the next one if nobody waits.
    public func send() {
        let listener = state.withLock { state in
            let listener = state.listener.take()
            state.isGiven = listener == nil
            return listener
        }
        listener?.resume()
    }

    /// Waits for the signal, or until the time is over.
    ///
    /// Only one listener may wait at a time.
    ///
    /// - Throws: `CancellationError`.
    public func wait(atMost duration: Duration) async throws {
        state.withLock { $0.isOver = false }
        let timer = Task { [weak self] in
            try await Task.sleep(for: duration)
            self?.release()
        }
        defer { timer.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isGiven || state.isOver || Task.isCancelled {
                        state.isGiven = false
                        return true
                    }
                    state.listener = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            release()
        }
        try Task.checkCancellation()
    }

    /// Rests, and then waits for the signal, or until the time is over.
    ///
    /// A signal that was given before the end of the rest ends the wait with the rest.
    ///
    /// - Parameter bounds: The length of the rest, and the longest wait, which includes the rest.
    /// - Throws: `CancellationError`.
    func wait(within bounds: ClosedRange<Duration>) async throws {
        try await Task.sleep(for: bounds.lowerBound)
        try await wait(atMost: bounds.upperBound - bounds.lowerBound)
    }

    /// Ends a wait without a signal.
    private func release() {
        let listener = state.withLock { state in
            let listener = state.listener.take()
            state.isOver = listener == nil
            return listener
        }
        listener?.resume()
    }
}

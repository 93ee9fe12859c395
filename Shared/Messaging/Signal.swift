import Synchronization

/// A bell: rung any number of times while its listener is busy, it is heard once.
///
/// It is not built on an `AsyncStream`, because such a stream is over for good as soon as one task
/// that waits for it is cancelled, and a wait that runs out of time is just that.
public final class Signal: Sendable {
    private struct State {
        var isRung = false
        var listener: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Makes a bell that has not been rung.
    public init() {}

    /// Wakes the listener, or the next one if nobody waits.
    public func ring() {
        let listener = state.withLock { state in
            let listener = state.listener.take()
            state.isRung = listener == nil
            return listener
        }
        listener?.resume()
    }

    /// Waits for the bell or for the time to pass.
    ///
    /// One listener at a time.
    ///
    /// - Throws: `CancellationError`.
    public func wait(atMost duration: Duration) async throws {
        let timer = Task { [weak self] in
            try await Task.sleep(for: duration)
            self?.release()
        }
        defer { timer.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isRung || Task.isCancelled {
                        state.isRung = false
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

    /// Ends a wait without ringing.
    private func release() {
        state.withLock { $0.listener.take() }?.resume()
    }
}

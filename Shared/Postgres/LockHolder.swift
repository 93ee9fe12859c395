import Synchronization

/// Tracks whether the holder of an advisory lock makes progress, and whether the lock is still
/// held.
///
/// Safe to use from any task.
public final class LockHolder: Sendable {
    /// The time without a sign of life after which the lock is lost and another process may take
    /// it.
    ///
    /// It limits both a stopped process (the server ends its session) and a body that hangs in a
    /// running process (the watch ends the session).
    public static let silenceMax = Duration.seconds(11)
    /// The time between two checks of the watch, which asks the server and looks whether the body
    /// makes progress.
    ///
    /// Together with ``silenceMax`` it is less than 15 seconds, within which another process leads.
    static let askInterval = Duration.seconds(3)

    private struct State {
        var movedAt: ContinuousClock.Instant
        var confirmedAt: ContinuousClock.Instant
    }

    private let mustMove: Bool
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    /// Makes a tracker for one holder.
    ///
    /// - Parameters:
    ///   - mustMove: Whether a holder that does not call ``move()`` for ``silenceMax`` loses the
    ///     lock.
    ///   - now: The clock.
    public init(
        mustMove: Bool = true,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.mustMove = mustMove
        self.now = now
        state = Mutex(State(movedAt: now(), confirmedAt: now()))
    }

    /// Notes that the holder has made progress.
    public func move() {
        let moment = now()
        state.withLock { $0.movedAt = moment }
    }

    /// Whether the server has confirmed the lock recently.
    ///
    /// The lock can then have ended only because the session was closed. When a stopped process
    /// wakes up, this is `false` even before the process learns of its loss. The process may be
    /// stopped again between this check and the next step, so the check saves needless work but
    /// fences nothing. It is always `true` for a holder that need not report progress.
    public var isRecent: Bool {
        guard mustMove else { return true }
        let moment = now()
        return state.withLock { moment - $0.confirmedAt < Self.silenceMax }
    }

    /// Notes that the lock has been granted.
    func begins() {
        let moment = now()
        state.withLock { $0 = State(movedAt: moment, confirmedAt: moment) }
    }

    /// Notes that the server has answered in the session that holds the lock.
    func isConfirmed() {
        let moment = now()
        state.withLock { $0.confirmedAt = moment }
    }

    /// Whether the holder has made progress recently, or need not report it.
    var moves: Bool {
        guard mustMove else { return true }
        let moment = now()
        return state.withLock { moment - $0.movedAt < Self.silenceMax }
    }
}

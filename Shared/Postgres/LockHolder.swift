import Synchronization

/// Shows that whoever holds an advisory lock still moves, and that the lock is still held.
///
/// Safe to use from any task.
public final class LockHolder: Sendable {
    /// After this time without a sign of life the lock is lost, and another may have it.
    ///
    /// It bounds both a process that is stopped (the server ends its session) and a body that hangs
    /// in a process that lives (the watch ends the session).
    public static let silenceMax = Duration.seconds(11)
    /// How often the watch asks the server, and looks whether the body moves.
    static let askInterval = Duration.seconds(2)

    private struct State {
        var movedAt: ContinuousClock.Instant
        var confirmedAt: ContinuousClock.Instant
    }

    private let mustMove: Bool
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    /// Makes the sign of one holder.
    ///
    /// - Parameters:
    ///   - mustMove: Whether a holder that does not call ``move()`` for ``silenceMax`` loses the lock.
    ///   - now: The clock.
    public init(
        mustMove: Bool = true,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.mustMove = mustMove
        self.now = now
        state = Mutex(State(movedAt: now(), confirmedAt: now()))
    }

    /// Notes that the holder has got a step on.
    public func move() {
        let moment = now()
        state.withLock { $0.movedAt = moment }
    }

    /// Whether the server has confirmed the lock so recently that it can have ended it only by
    /// closing the session.
    ///
    /// A process that was stopped and wakes up finds `false` here before it has heard of its loss.
    /// Between this look and the next step it may be stopped again: it saves needless work, and
    /// fences nothing. Always so for a holder that need not move.
    public var isRecent: Bool {
        guard mustMove else { return true }
        let moment = now()
        return state.withLock { moment - $0.confirmedAt < Self.silenceMax }
    }

    /// The lock has been granted.
    func begins() {
        let moment = now()
        state.withLock { $0 = State(movedAt: moment, confirmedAt: moment) }
    }

    /// The server has answered in the session that holds the lock.
    func isConfirmed() {
        let moment = now()
        state.withLock { $0.confirmedAt = moment }
    }

    /// Whether the holder has moved lately, or need not.
    var moves: Bool {
        guard mustMove else { return true }
        let moment = now()
        return state.withLock { moment - $0.movedAt < Self.silenceMax }
    }
}

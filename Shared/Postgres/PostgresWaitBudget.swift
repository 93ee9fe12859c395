import Synchronization

/// The time that one request may wait for the database, for all its database transactions together.
///
/// The HTTP edge sets a budget for each request. It limits everything that a ``PostgresClient``
/// does, whatever the other timeouts are: the wait for a connection, each statement, and `COMMIT`.
/// A statement that is still running shortly before the end is cancelled in the server. If the
/// server does not answer even then, the connection is closed and replaced.
///
/// Background work has no budget; only its settings limit its waits.
public final class PostgresWaitBudget: Sendable {
    /// The budget of the current task's request; `nil` for background work.
    @TaskLocal public static var current: PostgresWaitBudget?

    private let remaining: Mutex<Duration>

    /// Makes a budget.
    ///
    /// - Parameter duration: The available time.
    public init(_ duration: Duration) {
        remaining = Mutex(duration)
    }

    /// The remaining time.
    public var left: Duration { remaining.withLock { max($0, .zero) } }

    /// Subtracts time that was spent waiting.
    public func spend(_ duration: Duration) {
        remaining.withLock { $0 -= duration }
    }

    /// The time before the end at which a statement is cancelled, so that the server's answer
    /// arrives in time: a tenth of the remaining time, at most a second.
    static func grace(within left: Duration) -> Duration {
        min(left / 10, .seconds(1))
    }
}

/// The deadline of one use of a connection.
struct PostgresDeadline: Sendable {
    /// The time from which the statement is cancelled in the server.
    var cancel: ContinuousClock.Instant
    /// The time at which every wait ends.
    var end: ContinuousClock.Instant

    /// The deadline of a use that begins now.
    init(in left: Duration, from now: ContinuousClock.Instant) {
        end = now + left
        cancel = end - PostgresWaitBudget.grace(within: left)
    }
}

import Synchronization

/// How long one request may wait for the database, all its database transactions together.
///
/// The HTTP edge sets one for each request. Within it nothing that a ``PostgresClient`` does takes
/// longer, whatever the other time-outs are: neither the wait for a connection, nor a statement, nor
/// `COMMIT`. A statement that is still running shortly before the end is cancelled in the server; a
/// connection whose server does not answer that either is closed and replaced.
///
/// Background work has no budget and waits as its settings say.
public final class PostgresWaitBudget: Sendable {
    /// The budget of the request that the task works for; `nil` for background work.
    @TaskLocal public static var current: PostgresWaitBudget?

    private let remaining: Mutex<Duration>

    /// Makes a budget.
    ///
    /// - Parameter duration: The time there is.
    public init(_ duration: Duration) {
        remaining = Mutex(duration)
    }

    /// The time that is left.
    public var left: Duration { remaining.withLock { max($0, .zero) } }

    /// Takes off what was waited.
    public func spend(_ duration: Duration) {
        remaining.withLock { $0 -= duration }
    }

    /// How long before the end a statement is cancelled, so that the server's word on it arrives in
    /// time: a tenth of what there is, and at most a second.
    static func grace(within left: Duration) -> Duration {
        min(left / 10, .seconds(1))
    }
}

/// The moments at which one use of a connection is to be over.
struct PostgresDeadline: Sendable {
    /// From here on the statement is cancelled in the server.
    var cancel: ContinuousClock.Instant
    /// From here on nothing is waited for.
    var end: ContinuousClock.Instant

    /// The deadline of a use that begins now.
    init(in left: Duration, from now: ContinuousClock.Instant) {
        end = now + left
        cancel = end - PostgresWaitBudget.grace(within: left)
    }
}

public import Postgres
import Synchronization

/// A machine's clock that a test sets wrongly, and right again.
public final class MachineClock: Sendable {
    private let offset: Mutex<Int64>

    /// Makes a clock that is ahead of the machine's, or behind it.
    public init(ahead seconds: Int64) {
        offset = Mutex(seconds)
    }

    /// Sets the clock.
    public func set(ahead seconds: Int64) {
        offset.withLock { $0 = seconds }
    }

    /// What it shows.
    public func now() -> PostgresTimestamp {
        let microseconds = offset.withLock { $0 } * 1_000_000
        return PostgresTimestamp(
            microsecondsSinceEpoch: PostgresClock.machine().microsecondsSinceEpoch + microseconds
        )
    }
}

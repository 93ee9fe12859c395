public import Postgres
import Synchronization

/// A machine's clock that a test can set to a wrong time.
public final class MachineClock: Sendable {
    private let offset: Mutex<Int64>

    /// Makes a clock with an offset from the machine's clock.
    public init(ahead seconds: Int64) {
        offset = Mutex(seconds)
    }

    /// Sets the offset.
    public func set(ahead seconds: Int64) {
        offset.withLock { $0 = seconds }
    }

    /// Returns the time of the clock.
    public func now() -> PostgresTimestamp {
        let microseconds = offset.withLock { $0 } * 1_000_000
        return PostgresTimestamp(
            microsecondsSinceEpoch: PostgresClock.machine().microsecondsSinceEpoch + microseconds
        )
    }
}

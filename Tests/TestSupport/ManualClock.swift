public import EventTypes
import Synchronization

/// A clock that only a test advances.
public final class ManualClock: Sendable {
    private let time: Mutex<Timestamp>

    /// Makes a clock that shows a given time.
    public init(_ start: Timestamp) { time = Mutex(start) }

    /// The time of the clock, as a function.
    public var now: @Sendable () -> Timestamp { { self.time.withLock { $0 } } }

    /// Advances the clock.
    public func advance(by duration: Duration) {
        time.withLock { $0 = $0.advanced(by: duration) }
    }
}

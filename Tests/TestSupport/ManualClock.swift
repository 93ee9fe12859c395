public import EventTypes
import Synchronization

/// A clock that stands until a test moves it.
public final class ManualClock: Sendable {
    private let time: Mutex<Timestamp>

    /// Makes a clock that stands at a moment.
    public init(_ start: Timestamp) { time = Mutex(start) }

    /// What the clock shows, for whoever takes a clock.
    public var now: @Sendable () -> Timestamp { { self.time.withLock { $0 } } }

    /// Moves the clock forward.
    public func advance(by duration: Duration) {
        time.withLock { $0 = $0.advanced(by: duration) }
    }
}

public import ClockAndIDs
public import EventTypes
import Synchronization

/// A clock that only a test advances.
///
/// It is read as the store's clock and as the machines' clock.
public final class ManualClock: Sendable {
    private let time: Mutex<Timestamp>

    /// Makes a clock that shows a given time.
    public init(_ start: Timestamp) { time = Mutex(start) }

    /// The store's time by the clock, as a function.
    public var now: @Sendable () -> Timestamp { { self.time.withLock { $0 } } }

    /// The machines' time by the clock, as a function.
    public var machineNow: @Sendable () -> MachineTime {
        { self.time.withLock(\.onMachines) }
    }

    /// Advances the clock.
    public func advance(by duration: Duration) {
        time.withLock { $0 = $0.advanced(by: duration) }
    }
}

extension Timestamp {
    /// The same time by the machines' clock, where a test uses one number for both.
    public var onMachines: MachineTime {
        MachineTime(millisecondsSinceEpoch: millisecondsSinceEpoch)
    }
}

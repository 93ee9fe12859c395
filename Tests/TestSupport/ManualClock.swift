public import EventTypes
import Synchronization

/// A clock that only a test advances.
///
/// It is read as the store's clock and as the machines' clock, which show the same time unless a
/// test sets the store's clock ahead.
public final class ManualClock: Sendable {
    private struct Reading {
        var machineTime: MachineTime
        var storeAhead = Duration.zero
    }

    private let reading: Mutex<Reading>

    /// Makes a clock that shows a given time.
    public init(_ start: StoreTime) { reading = Mutex(Reading(machineTime: start.onMachines)) }

    /// The store's time by the clock, as a function.
    public var now: @Sendable () -> StoreTime {
        {
            self.reading.withLock {
                StoreTime(millisecondsSinceEpoch: $0.machineTime.millisecondsSinceEpoch)
                    .advanced(by: $0.storeAhead)
            }
        }
    }

    /// The machines' time by the clock, as a function.
    public var machineNow: @Sendable () -> MachineTime {
        { self.reading.withLock(\.machineTime) }
    }

    /// Advances the clock.
    public func advance(by duration: Duration) {
        reading.withLock { $0.machineTime = $0.machineTime.advanced(by: duration) }
    }

    /// Sets how far the store's clock is ahead of the machines' clock.
    public func set(storeAhead: Duration) {
        reading.withLock { $0.storeAhead = storeAhead }
    }
}

extension StoreTime {
    /// The same time by the machines' clock, where a test uses one number for both.
    public var onMachines: MachineTime {
        MachineTime(millisecondsSinceEpoch: millisecondsSinceEpoch)
    }
}

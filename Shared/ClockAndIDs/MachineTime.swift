public import EventTypes
import Foundation

/// A time of the machines' clock, in milliseconds since 1970-01-01 00:00 UTC.
///
/// It measures what protects a process or a connection: tokens, leases, certificates, retries, log
/// lines. Nothing that a buyer or a merchant sees has machine time; that is ``Timestamp``, the
/// store's time. A sandbox may set the store's clock, but nobody sets this one.
public struct MachineTime: PointInTime {
    /// The milliseconds since 1970-01-01 00:00 UTC.
    public let millisecondsSinceEpoch: Int64

    /// Wraps a number of milliseconds since 1970-01-01 00:00 UTC.
    public init(millisecondsSinceEpoch: Int64) {
        self.millisecondsSinceEpoch = millisecondsSinceEpoch
    }

    /// Reads this machine's clock.
    ///
    /// Only the edge calls it; all other code takes the time as an argument.
    public static func now() -> MachineTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return MachineTime(
            millisecondsSinceEpoch: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        )
    }
}

public import EventTypes
import Foundation

extension MachineTime {
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

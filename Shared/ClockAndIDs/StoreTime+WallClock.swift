public import EventTypes
import Foundation

extension StoreTime {
    /// Reads the wall clock.
    ///
    /// Only the edge calls it; all other code takes the time as an argument.
    public static func wallClock() -> StoreTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return StoreTime(
            millisecondsSinceEpoch: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        )
    }
}

/// The store's clock: what time it is in the store while the machines' clock shows a time.
///
/// This is the only place where machine time becomes store time. A store in production has the
/// machines' clock. In the sandbox the clock may be frozen, or run at a rate of its own.
///
/// Pure: the machines' time comes in as an argument.
public enum StoreClock: Hashable, Sendable {
    /// The machines' clock: the store's clock was never set.
    case machines
    /// The clock is frozen.
    case frozen(at: StoreTime)
    /// The clock showed `from` at the machines' time `since`, and runs at a rate until it stops at
    /// `end`.
    case running(from: StoreTime, since: MachineTime, rate: ClockRate, end: StoreTime)

    /// The last time that a clock shows.
    ///
    /// RFC 3339 knows no year after 9999.
    public static let last = StoreTime(millisecondsSinceEpoch: 253_402_300_799_999)

    /// Returns the time that the clock shows.
    ///
    /// A running clock never shows a time before its start, even if the machines' clock was set back.
    ///
    /// - Parameter machine: The time of the machines' clock.
    /// - Returns: The time.
    public func time(at machine: MachineTime) -> StoreTime {
        switch self {
        case .machines:
            return StoreTime(millisecondsSinceEpoch: machine.millisecondsSinceEpoch)
        case .frozen(let time):
            return time
        case .running(let start, let since, let rate, let end):
            let elapsed = max(.zero, machine.duration(since: since))
            guard let passed = rate.passed(in: elapsed) else { return end }
            let (sum, overflows) = start.millisecondsSinceEpoch.addingReportingOverflow(passed)
            return overflows ? end : min(end, StoreTime(millisecondsSinceEpoch: sum))
        }
    }
}

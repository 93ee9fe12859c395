/// The store's clock as one process follows it.
///
/// Each change of the clock has a number, its step. The newest step counts; steps may arrive in any
/// order and more than once. Once the clock was set, its time never runs backwards, even if the
/// machines' clock does. A clock that was never set follows the machines' clock back, too: a store
/// whose machines were a day ahead by mistake must not show the same time for a day.
///
/// Pure: the machines' time comes in as an argument.
public struct FollowedClock: Hashable, Sendable {
    /// The clock of the newest step.
    public private(set) var clock: StoreClock
    /// The number of the newest step; 0 if the clock was never set.
    public private(set) var step: Int64
    /// The latest time that was given; `nil` before the first.
    public private(set) var latest: StoreTime?

    /// Makes the clock of a step.
    ///
    /// - Parameters:
    ///   - clock: The clock.
    ///   - step: The number of its step.
    ///   - latest: The latest time that was given.
    public init(_ clock: StoreClock = .machines, step: Int64 = 0, latest: StoreTime? = nil) {
        self.clock = clock
        self.step = step
        self.latest = latest
    }

    /// Returns the store's time.
    ///
    /// If the clock was set, it is never before the latest time that was given.
    ///
    /// - Parameter machine: The time of the machines' clock.
    /// - Returns: The time.
    public mutating func now(at machine: MachineTime) -> StoreTime {
        let time = clock.time(at: machine)
        let now = clock == .machines ? time : max(latest ?? time, time)
        latest = now
        return now
    }

    /// Moves the clock to a time that another process of the store has given.
    ///
    /// If the clock was set, it shows no earlier time from then on: the effect of an event is not
    /// dated before the event. The machines' clock stays as it is.
    ///
    /// - Parameter time: The time.
    public mutating func see(_ time: StoreTime) {
        guard clock != .machines else { return }
        latest = max(latest ?? time, time)
    }

    /// Adopts a step, if it is newer.
    ///
    /// - Parameters:
    ///   - clock: The clock of the step.
    ///   - step: The number of the step.
    /// - Returns: Whether it is newer.
    @discardableResult
    public mutating func follow(_ clock: StoreClock, step: Int64) -> Bool {
        guard step > self.step else { return false }
        self.clock = clock
        self.step = step
        return true
    }
}

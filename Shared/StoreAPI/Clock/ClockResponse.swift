public import EventTypes

/// The store's clock.
public struct ClockResponse: Codable, Hashable, Sendable {
    /// The way in which the clock shows the time.
    public enum Mode: String, Codable, Sendable {
        /// The clock was never set and shows the machines' time.
        case machines
        /// The clock is frozen.
        case frozen
        /// The clock runs at a rate.
        case running
    }

    /// The condition of the clock.
    public enum Status: String, Codable, Sendable {
        /// The clock takes any command.
        case ready
        /// An advance is on its way.
        case advancing
        /// An advance could not be finished.
        case failed
    }

    /// The store's time.
    public var now: StoreTime
    /// The number of the clock's newest change; 0 if it was never set.
    public var step: Int64
    /// The way in which the clock shows the time.
    public var mode: Mode
    /// The rate of a running clock, such as `1h=1d`.
    public var rate: String?
    /// The time at which a running clock stops, because the receipts' certificates end.
    public var end: StoreTime?
    /// The condition of the clock.
    public var status: Status
    /// The time at which the newest advance began.
    public var start: StoreTime?
    /// The time that the newest advance is to reach, or has reached.
    public var target: StoreTime?
    /// The number of pieces that fell due in the newest advance and were done, by the name of the work.
    public var done: [String: Int64]?
    /// The names of the work that is due and not done yet; the advance waits for it.
    public var waitsFor: [String]?
    /// The reason why the advance failed.
    public var failure: String?

    /// Makes an answer.
    public init(now: StoreTime, step: Int64, mode: Mode, status: Status) {
        self.now = now
        self.step = step
        self.mode = mode
        self.status = status
    }
}

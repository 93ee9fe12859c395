import EventTypes

/// The store's clock as `payments`, its owner, stores it.
struct ClockState: Hashable, Sendable {
    /// The condition of the clock.
    enum Status: Hashable, Sendable {
        /// The clock takes any command.
        case ready
        /// The clock is on its way to the target of an advance, and stops at each time at which
        /// something is due.
        case advancing(ClockAdvance)
        /// Something that was due could not be done. The clock is stopped until an administrator
        /// resumes the advance.
        case failed(ClockAdvance, reason: String)
    }

    var followed = FollowedClock()
    var status = Status.ready

    /// Returns the store's time, and remembers that it was given.
    mutating func read(at machineTime: MachineTime) -> StoreTime { followed.now(at: machineTime) }
}

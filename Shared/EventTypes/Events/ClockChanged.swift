/// `clock.changed.v1`: the store's clock was set, frozen or let run.
///
/// The event carries the whole clock. Each process of the store follows the newest step.
public struct ClockChanged: Event, Hashable {
    /// The number of the change; it rises by one.
    public var step: Int64
    /// The clock from this change on.
    public var clock: StoreClock
    /// Makes the event.
    public init(step: Int64, clock: StoreClock) {
        self.step = step
        self.clock = clock
    }
}

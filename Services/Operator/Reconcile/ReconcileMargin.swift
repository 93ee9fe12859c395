import EventTypes

/// The way in which a comparison leaves alone what is still on its way.
///
/// Changes carry the store's time. It says how long ago something changed only while the store's clock
/// is the machines' clock. Once the clock of a sandbox was set, a change of a month ago may have been
/// made a second ago, and on a frozen clock every change is made now. Then everything is compared, and
/// the comparison is repeated while there are differences: what is on its way arrives meanwhile.
///
/// Pure: no I/O, no clock.
struct ReconcileMargin: Hashable, Sendable {
    /// The time for which something must not have changed to be compared; zero for everything.
    var settled: Duration
    /// The time for which the comparison is repeated in any case while there are differences.
    var wait: Duration
    /// Whether the store's clock was ever set.
    var isClockSet: Bool

    /// The time since which nothing must have changed to be compared; `nil` for everything.
    ///
    /// - Parameter now: The store's time.
    /// - Returns: The time, by the same clock.
    func cutoff(at now: StoreTime) -> StoreTime? {
        settled > .zero && !isClockSet ? now.advanced(by: .zero - settled) : nil
    }

    /// The time by the machines' clock for which the comparison is repeated while there are
    /// differences.
    var patience: Duration { isClockSet ? max(wait, settled) : wait }
}

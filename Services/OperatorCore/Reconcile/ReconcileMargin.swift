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
    /// What the processor's list may not have yet is left alone, too.
    ///
    /// - Parameters:
    ///   - now: The store's time.
    ///   - listEnd: The time until which the processor's list was read; `nil` if it is always whole.
    /// - Returns: The time, by the store's clock.
    func cutoff(at now: StoreTime, listedUntil listEnd: MachineTime? = nil) -> StoreTime? {
        guard !isClockSet else { return nil }
        let listed = listEnd.map {
            StoreTime(millisecondsSinceEpoch: $0.millisecondsSinceEpoch)
        }
        let still = settled > .zero ? now.advanced(by: .zero - settled) : nil
        return [still, listed].compactMap(\.self).min()
    }

    /// The time by the machines' clock for which the comparison is repeated while there are
    /// differences.
    var patience: Duration { isClockSet ? max(wait, settled) : wait }
}

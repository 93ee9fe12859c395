import EventTypes

/// The decision whether a clock was set ahead, by the time that has passed since it was looked at.
///
/// A store that was switched off sees no jump, because nobody looked at its clock meanwhile: the first
/// look of a process is not judged. Pure: both times come in as arguments.
struct ClockJumpRules {
    /// The longest time by which a clock may be ahead of the time that has passed.
    static let leadMax = Duration.seconds(3600)

    /// A time that was believed, and the time that had passed in the process by then.
    private struct Look {
        let time: StoreTime
        let passed: Duration
    }

    private var believed: Look?

    /// Judges a time that the clock shows.
    ///
    /// A clock that was set back is believed only once it shows what it has shown before, so that it may
    /// go forward again. One that gains a little time with each look is believed.
    ///
    /// - Parameters:
    ///   - time: The time.
    ///   - passed: The time that has passed in this process, which nobody can set.
    ///   - confirmed: The time at which an administrator has said that the clock is right.
    /// - Returns: The time by which the clock was set ahead; `nil` if it was not.
    mutating func lead(
        at time: StoreTime,
        after passed: Duration,
        confirmed: StoreTime? = nil
    ) -> Duration? {
        guard let last = believed else {
            believed = Look(time: time, passed: passed)
            return nil
        }
        let lead = time.duration(since: last.time) - (passed - last.passed)
        if lead <= .zero { return nil }
        guard lead <= Self.leadMax || isConfirmed(time, by: confirmed) else { return lead }
        believed = Look(time: time, passed: passed)
        return nil
    }

    /// Whether an administrator meant this time: who confirms an earlier jump means another one.
    private func isConfirmed(_ time: StoreTime, by confirmed: StoreTime?) -> Bool {
        guard let confirmed else { return false }
        let distance = time.duration(since: confirmed)
        return distance >= .zero - Self.leadMax && distance <= Self.leadMax
    }
}

/// Decides when a consumer looks for dead letters to redrive.
///
/// An operator's request must be seen within a second. It can only be about an event that is a dead
/// letter already. So a consumer that has none, and that applies nothing, looks seldom: only another
/// instance could have recorded one, and that instance looks every second.
///
/// Pure.
struct RedriveLooks {
    /// The time between two looks while dead letters wait, or may have been recorded here.
    static let interval = Duration.seconds(1)
    /// The time between two looks while there are none.
    static let intervalWithoutLetters = Duration.seconds(5)

    private var nextLook: ContinuousClock.Instant

    /// Makes looks whose first one is due at a time.
    init(at start: ContinuousClock.Instant) { nextLook = start }

    /// Whether it is time to look.
    ///
    /// If so, the next look is due soon, unless this one succeeds and finds nothing.
    mutating func areDue(at now: ContinuousClock.Instant) -> Bool {
        guard now >= nextLook else { return false }
        nextLook = now + Self.interval
        return true
    }

    /// The time until the next look is due, limited to what somebody wants to wait.
    func wait(atMost patience: Duration, from now: ContinuousClock.Instant) -> Duration {
        // A wait is counted in whole milliseconds, and must not end too early.
        min(max(.zero, nextLook - now + .milliseconds(1)), patience)
    }

    /// Notes the result of a look.
    mutating func looked(lettersWait: Bool, at now: ContinuousClock.Instant) {
        nextLook = now + (lettersWait ? Self.interval : Self.intervalWithoutLetters)
    }

    /// Notes that events are applied now, of which some may become dead letters.
    mutating func applies(at now: ContinuousClock.Instant) {
        nextLook = min(nextLook, now + Self.interval)
    }
}

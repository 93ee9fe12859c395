/// Decides how long the relay waits before it looks again for events that are not settled.
///
/// An older database transaction still runs, and its events come before those that the relay has seen. Most
/// end within milliseconds, so the first looks follow each other quickly. One that renews hundreds of
/// subscriptions takes longer. A look has the server read its locks and its sessions, so the waits grow
/// with the time that has passed: an event is published late by a quarter of its wait at most. The signal of
/// a commit ends a wait early.
///
/// Pure.
struct UnsettledEvents {
    /// The shortest and the longest wait.
    static let waits = Duration.milliseconds(2)...Duration.milliseconds(20)

    /// The time of the first look that found the present events unsettled.
    private var since: ContinuousClock.Instant?

    /// Makes a rule that knows of no such events.
    init() {}

    /// Decides how long to wait after a look that found only unsettled events.
    ///
    /// - Parameter now: The time.
    /// - Returns: The longest wait.
    mutating func wait(at now: ContinuousClock.Instant) -> Duration {
        let begun = since ?? now
        since = begun
        let wait = begun.duration(to: now) / 4
        return min(max(wait, Self.waits.lowerBound), Self.waits.upperBound)
    }

    /// Notes that a look has found settled events, or none.
    mutating func settle() { since = nil }
}

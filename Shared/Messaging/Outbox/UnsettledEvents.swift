/// Decides how long the relay waits before it looks again for events that are not settled.
///
/// An older database transaction still runs, and its events come before those that the relay has seen. Most
/// end within milliseconds, so the first looks follow each other quickly. One that renews hundreds of
/// subscriptions takes longer. A look has the server read its locks and its sessions, so the waits grow
/// with the time that has passed: an event is published late by a quarter of its wait at most.
///
/// The signal of a commit ends a wait early. Under load there are thousands of commits a second, and most
/// are not the one that is waited for. So the relay rests before it listens.
///
/// Pure.
struct UnsettledEvents {
    /// The shortest time between two looks, which no signal ends.
    static let rest = Duration.milliseconds(2)
    /// The longest time between two looks.
    static let waitMax = Duration.milliseconds(20)

    /// The time of the first look that found the present events unsettled.
    private var since: ContinuousClock.Instant?

    /// Makes a rule that knows of no such events.
    init() {}

    /// Decides how long to wait after a look that found only unsettled events.
    ///
    /// - Parameter now: The time.
    /// - Returns: The rest, and the longest wait, which includes it. A signal may end what follows the rest.
    mutating func wait(at now: ContinuousClock.Instant) -> ClosedRange<Duration> {
        let begun = since ?? now
        since = begun
        let wait = begun.duration(to: now) / 4
        return Self.rest...min(max(wait, Self.rest), Self.waitMax)
    }

    /// Notes that a look has found settled events, or none.
    mutating func settle() { since = nil }
}

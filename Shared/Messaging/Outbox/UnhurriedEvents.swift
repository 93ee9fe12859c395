import EventTypes

/// Lets events of delayed topics wait for those that follow them, and share a batch with them.
///
/// Consumers apply an event of a delayed topic long after its publication. Most payments are charged
/// some milliseconds after they were accepted. If the relay published their beginning alone, their
/// result would find it at work.
///
/// Pure.
struct UnhurriedEvents {
    /// The longest wait.
    static let patience = Duration.milliseconds(20)

    private let delayedTopics: Set<String>
    /// The time since which the present events wait.
    private var since: ContinuousClock.Instant?

    /// Makes a rule for the events of some topics.
    init(of topics: [Topic]) {
        delayedTopics = Set(topics.filter(\.isDelayed).map(\.name))
    }

    /// Decides how long the next events may wait for others.
    ///
    /// - Parameters:
    ///   - topics: The topics of the events.
    ///   - now: The time.
    /// - Returns: The longest wait; `nil` if they are to be published now.
    mutating func wait(
        of topics: some Sequence<String>,
        at now: ContinuousClock.Instant
    ) -> Duration? {
        guard topics.allSatisfy({ delayedTopics.contains($0) }) else {
            since = nil
            return nil
        }
        let begun = since ?? now
        let left = Self.patience - begun.duration(to: now)
        since = left > .zero ? begun : nil
        return left > .zero ? left : nil
    }
}

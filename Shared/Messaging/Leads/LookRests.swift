/// The rests of a loop that looks for rows of which nobody tells it.
///
/// After each look that finds nothing it rests twice as long as before, up to a limit. After one that finds
/// something it rests as briefly as at first.
///
/// Pure.
struct LookRests {
    private let shortest: Duration
    private let longest: Duration
    private var next: Duration

    /// Makes rests.
    ///
    /// - Parameters:
    ///   - shortest: The rest after a look that found something.
    ///   - longest: The longest rest, and so the longest time for which a row waits in vain.
    init(from shortest: Duration, to longest: Duration) {
        self.shortest = shortest
        self.longest = longest
        next = shortest
    }

    /// Returns the rest after a look.
    mutating func rest(afterFinding hasFound: Bool) -> Duration {
        if hasFound { next = shortest }
        defer { next = min(next * 2, longest) }
        return next
    }
}

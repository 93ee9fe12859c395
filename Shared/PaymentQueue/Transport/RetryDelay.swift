/// The wait before the next attempt.
///
/// It doubles with each failure up to a limit. Half of it is random, so that clients do not all retry
/// at the same moment. `RetryPolicy` of Messaging follows the same rule for the services; an app links
/// nothing of theirs.
struct RetryDelay: Hashable, Sendable {
    /// The wait after the first failure.
    let base: Duration
    /// The longest wait.
    let ceiling: Duration

    /// The wait after a number of failures.
    ///
    /// - Parameters:
    ///   - failures: The number of failures, from 1.
    ///   - jitter: A number from 0 to 1 that determines half of the wait.
    /// - Returns: The time to wait before the next attempt.
    func after(_ failures: Int, jitter: Double) -> Duration {
        var delay = base
        for _ in 1..<max(failures, 1) where delay < ceiling { delay *= 2 }
        delay = min(delay, ceiling)
        return delay / 2 + (delay / 2) * min(max(jitter, 0), 1)
    }
}

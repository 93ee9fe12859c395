/// The time between attempts to reach a server.
///
/// It doubles up to a limit and is spread at random, so that many clients do not retry at the same
/// moment. `RetryPolicy` of Messaging waits by the same rule; that is a layer above, and this library
/// offers its users nothing but PostgreSQL.
struct Backoff {
    var first: Duration = .milliseconds(50)
    var longest: Duration = .seconds(2)

    /// The wait after a number of consecutive failures.
    ///
    /// - Parameters:
    ///   - failures: The number of failed attempts, from 1.
    ///   - jitter: A random number from 0 to 1 that spreads the wait over the upper half of the
    ///     doubled time.
    /// - Returns: The time to wait before the next attempt.
    func delay(afterFailures failures: Int, jitter: Double) -> Duration {
        guard failures > 0 else { return .zero }
        var delay = first
        for _ in 1..<min(failures, 32) where delay < longest {
            delay *= 2
        }
        return min(delay, longest) * (0.5 + 0.5 * min(max(jitter, 0), 1))
    }
}

/// The wait before the next attempt: exponential, with a ceiling and jitter, so that replicas that
/// failed together do not retry together.
public struct RetryPolicy: Sendable {
    /// The wait before the second attempt.
    public let base: Duration
    /// The longest wait.
    public let ceiling: Duration

    /// Makes a policy.
    public init(base: Duration = .milliseconds(50), ceiling: Duration = .seconds(5)) {
        self.base = base
        self.ceiling = ceiling
    }

    /// The wait after a number of failures.
    ///
    /// - Parameters:
    ///   - failures: The number of failed attempts, from 1.
    ///   - jitter: A number from 0 to 1 that spreads the wait over its upper half.
    /// - Returns: The time to wait before the next attempt.
    public func delay(afterFailures failures: Int, jitter: Double) -> Duration {
        let doublings = min(max(failures - 1, 0), 30)
        let full = min(base * (1 << doublings), ceiling)
        return full * 0.5 + full * 0.5 * min(max(jitter, 0), 1)
    }
}

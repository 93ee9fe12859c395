import Synchronization

/// Counts consecutive failures of work that is retried for ever, and pauses between the attempts.
///
/// The work reports its success (``succeeded()``), so that the next failure counts as the first
/// again: earlier failures do not lengthen the pause after a new one.
///
/// Safe to use from any task.
public final class Retries: Sendable {
    private let policy: RetryPolicy
    private let count = Mutex(0)

    /// Makes a counter without failures.
    public init(_ policy: RetryPolicy = RetryPolicy()) {
        self.policy = policy
    }

    /// The number of failed attempts since the last success.
    public var failures: Int { count.withLock { $0 } }

    /// Notes that the work has succeeded.
    public func succeeded() {
        count.withLock { $0 = 0 }
    }

    /// Notes a failure.
    ///
    /// - Returns: The number of consecutive failures.
    @discardableResult
    public func failed() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }

    /// Waits for a time that grows with the number of consecutive failures.
    ///
    /// - Throws: `CancellationError`.
    public func pause() async throws {
        try await Task.sleep(
            for: policy.delay(afterFailures: max(failures, 1), jitter: .random(in: 0...1))
        )
    }
}

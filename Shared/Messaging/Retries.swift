import Synchronization

/// The failures in a row of work that is tried for ever, and the pauses between the tries.
///
/// Whatever the work is, it says so when it has succeeded (``succeeded()``), and the next failure is
/// the first again: a process that has lived through many troubles pauses no longer for a new one.
///
/// Safe to use from any task.
public final class Retries: Sendable {
    private let policy: RetryPolicy
    private let count = Mutex(0)

    /// Makes a row of no failures.
    public init(_ policy: RetryPolicy = RetryPolicy()) {
        self.policy = policy
    }

    /// How many tries have failed since the last that did not.
    public var failures: Int { count.withLock { $0 } }

    /// Notes that the work has done what it was to do.
    public func succeeded() {
        count.withLock { $0 = 0 }
    }

    /// Notes a failure.
    ///
    /// - Returns: How many there are in a row.
    @discardableResult
    public func failed() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }

    /// Waits as long as the failures in a row ask for.
    ///
    /// - Throws: `CancellationError`.
    public func pause() async throws {
        try await Task.sleep(
            for: policy.delay(afterFailures: max(failures, 1), jitter: .random(in: 0...1))
        )
    }
}

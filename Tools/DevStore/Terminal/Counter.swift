import Synchronization

/// Counts, from any thread.
final class Counter: Sendable {
    private let count = Mutex(0)

    /// The current count.
    var value: Int { count.withLock { $0 } }

    /// Counts one more and returns it.
    @discardableResult
    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

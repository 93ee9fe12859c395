import Synchronization

/// A thread-safe counter.
final class Counter: Sendable {
    private let count = Mutex(0)

    /// The current count.
    var value: Int { count.withLock { $0 } }

    /// Adds one and returns the new value.
    @discardableResult
    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

import Synchronization

/// A number that several tasks can raise and read.
final class Counter: Sendable {
    private let number = Mutex(0)

    /// The number of times it was raised.
    var value: Int { number.withLock { $0 } }

    /// Raises it by one.
    func raise() { number.withLock { $0 += 1 } }
}

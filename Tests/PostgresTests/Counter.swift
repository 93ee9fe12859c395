import Synchronization

/// A number that several tasks raise and look at.
final class Counter: Sendable {
    private let number = Mutex(0)

    /// How often it was raised.
    var value: Int { number.withLock { $0 } }

    /// Raises it by one.
    func raise() { number.withLock { $0 += 1 } }
}

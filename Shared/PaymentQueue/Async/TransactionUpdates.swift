/// The transactions of the account as they change: first all unfinished transactions, then every
/// change for as long as the iteration lasts (spec rules 18, 42 and 46).
///
/// Each iterator observes the queue. A transaction that changes several times before it is taken is
/// returned once, in its latest state. The buffer therefore never holds more than the unfinished
/// transactions.
public struct TransactionUpdates: AsyncSequence, Sendable {
    /// A transaction that has changed.
    public typealias Element = SKPaymentTransaction

    let queue: SKPaymentQueue
    /// Whether refunds of finished transactions are included.
    var hearsOfRefunds = false

    /// Begins to observe the queue.
    public func makeAsyncIterator() -> Iterator {
        Iterator(queue, hearsOfRefunds: hearsOfRefunds)
    }

    /// An iterator that observes the queue until it is released.
    public final class Iterator: AsyncIteratorProtocol {
        private let queue: SKPaymentQueue
        private let observer: UpdatesObserver

        init(_ queue: SKPaymentQueue, hearsOfRefunds: Bool) {
            self.queue = queue
            observer = UpdatesObserver(hearsOfRefunds: hearsOfRefunds)
            queue.add(observer)
        }

        deinit { queue.remove(observer) }

        /// The next transaction; `nil` if the task is cancelled or the program is configured for
        /// another store or account.
        public func next() async -> SKPaymentTransaction? { await observer.next() }
    }
}

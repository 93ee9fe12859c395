/// The transactions of the account as they change, for as long as somebody iterates: first what is
/// unfinished, then every change (spec rules 18, 42 and 46).
///
/// Each iterator observes the queue. A transaction that changes again before it was taken comes
/// once, as it then is, so what waits is never more than what is unfinished.
public struct TransactionUpdates: AsyncSequence, Sendable {
    /// A transaction that has changed.
    public typealias Element = SKPaymentTransaction

    let queue: SKPaymentQueue
    /// Whether a refund of what is finished is told of, too.
    var hearsOfRefunds = false

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator {
        Iterator(queue, hearsOfRefunds: hearsOfRefunds)
    }

    /// Observes until it is let go.
    public final class Iterator: AsyncIteratorProtocol {
        private let queue: SKPaymentQueue
        private let observer: UpdatesObserver

        init(_ queue: SKPaymentQueue, hearsOfRefunds: Bool) {
            self.queue = queue
            observer = UpdatesObserver(hearsOfRefunds: hearsOfRefunds)
            queue.add(observer)
        }

        deinit { queue.remove(observer) }

        /// The next transaction; `nil` when the task is cancelled, or the program is configured for
        /// another store or account.
        public func next() async -> SKPaymentTransaction? { await observer.next() }
    }
}

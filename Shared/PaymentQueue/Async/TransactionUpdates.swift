import Synchronization

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

/// Keeps what has changed until it is taken.
private final class UpdatesObserver: QueueFollower, Sendable {
    private struct State: ~Copyable {
        var isOver = false
        var changed: [SKPaymentTransaction] = []
        var waiting: CheckedContinuation<SKPaymentTransaction?, Never>?
    }

    private let state = Mutex(State())
    private let hearsOfRefunds: Bool

    init(hearsOfRefunds: Bool) { self.hearsOfRefunds = hearsOfRefunds }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        take(transactions)
    }

    func paymentQueue(_ queue: SKPaymentQueue, refunded transactions: [SKPaymentTransaction]) {
        if hearsOfRefunds { take(transactions) }
    }

    private func take(_ transactions: [SKPaymentTransaction]) {
        for transaction in transactions {
            let waiting = state.withLock { state in
                if let waiting = state.waiting {
                    state.waiting = nil
                    return CheckedContinuation<SKPaymentTransaction?, Never>?.some(waiting)
                }
                if !state.changed.contains(where: { $0 === transaction }) {
                    state.changed.append(transaction)
                }
                return nil
            }
            waiting?.resume(returning: transaction)
        }
    }

    func next() async -> SKPaymentTransaction? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, transaction) = state.withLock { state in
                    if Task.isCancelled { return (true, SKPaymentTransaction?.none) }
                    if !state.changed.isEmpty { return (true, state.changed.removeFirst()) }
                    if state.isOver { return (true, nil) }
                    state.waiting = continuation
                    return (false, nil)
                }
                if isOver { continuation.resume(returning: transaction) }
            }
        } onCancel: {
            endWaiting()
        }
    }

    func queueDidClose() {
        state.withLock { $0.isOver = true }
        endWaiting()
    }

    private func endWaiting() {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: nil)
    }
}

import Synchronization

/// The observer of a ``TransactionUpdates/Iterator``.
///
/// It buffers changed transactions until they are taken.
final class UpdatesObserver: QueueFollower, Sendable {
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

    func receive(refunded transactions: [SKPaymentTransaction]) {
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

import Dispatch
import Synchronization

@testable import PaymentQueue

/// Remembers what it was told, in the order it was.
final class Observer: SKPaymentTransactionObserver, Sendable {
    enum Call: Hashable {
        case updated(String, SKPaymentTransactionState)
        case removed(String)
        case download(SKDownloadState)
        case restoreFinished
        case restoreFailed(SKError.Code)
    }

    let calls = Mutex<[Call]>([])
    let whenUpdated: @Sendable (SKPaymentQueue) -> Void

    init(whenUpdated: @escaping @Sendable (SKPaymentQueue) -> Void = { _ in }) {
        self.whenUpdated = whenUpdated
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        calls.withLock { calls in
            calls += transactions.map {
                .updated($0.payment.productIdentifier, $0.transactionState)
            }
        }
        whenUpdated(queue)
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        removedTransactions transactions: [SKPaymentTransaction]
    ) {
        calls.withLock { calls in
            calls += transactions.map { .removed($0.payment.productIdentifier) }
        }
    }

    func paymentQueue(_ queue: SKPaymentQueue, updatedDownloads downloads: [SKDownload]) {
        calls.withLock { calls in calls += downloads.map { .download($0.state) } }
    }

    func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue) {
        calls.withLock { $0.append(.restoreFinished) }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        restoreCompletedTransactionsFailedWithError error: any Error
    ) {
        calls.withLock { $0.append(.restoreFailed(SKError(error).code)) }
    }
}

/// Waits until a queue's callbacks have all been made.
///
/// Without blocking: the few threads there are carry the callbacks as well.
func settled(_ callbacks: DispatchQueue) async {
    await withCheckedContinuation { continuation in
        callbacks.async { continuation.resume() }
    }
}

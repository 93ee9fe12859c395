import PaymentQueue
import Synchronization
import TestSupport

/// An observer that records all calls.
final class RecordingObserver: SKPaymentTransactionObserver, Sendable {
    private struct Calls {
        var updates: [(transaction: SKPaymentTransaction, state: SKPaymentTransactionState)] = []
        var removed: [SKPaymentTransaction] = []
        var revoked: [String] = []
        var progress: [Float] = []
        var downloadStates: [SKDownloadState] = []
        var restores = 0
        var failedRestores: [any Error] = []
    }

    private let calls = Mutex(Calls())

    func paymentQueue(
        _ queue: SKPaymentQueue,
        updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        calls.withLock { $0.updates += transactions.map { ($0, $0.transactionState) } }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        removedTransactions transactions: [SKPaymentTransaction]
    ) {
        calls.withLock { $0.removed += transactions }
    }

    func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue) {
        calls.withLock { $0.restores += 1 }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        restoreCompletedTransactionsFailedWithError error: any Error
    ) {
        calls.withLock { $0.failedRestores.append(error) }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        didRevokeEntitlementsForProductIdentifiers productIdentifiers: [String]
    ) {
        calls.withLock { $0.revoked += productIdentifiers }
    }

    func paymentQueue(_ queue: SKPaymentQueue, updatedDownloads downloads: [SKDownload]) {
        calls.withLock { calls in
            calls.progress += downloads.map(\.progress)
            calls.downloadStates += downloads.map(\.state)
        }
    }

    /// The progress of downloads at each call.
    var progress: [Float] { calls.withLock { $0.progress } }
    /// The states of downloads at each call.
    var downloadStates: [SKDownloadState] { calls.withLock { $0.downloadStates } }
    /// The errors of restores that failed.
    var failedRestores: [any Error] { calls.withLock { $0.failedRestores } }
    /// The number of transactions that have left the queue.
    var removedCount: Int { calls.withLock { $0.removed.count } }
    /// The number of restores that have ended.
    var restores: Int { calls.withLock { $0.restores } }

    /// Returns the reported states of a transaction in order.
    func states(of transaction: SKPaymentTransaction) -> [SKPaymentTransactionState] {
        calls.withLock { calls in
            calls.updates.filter { $0.transaction === transaction }.map(\.state)
        }
    }

    /// Returns the transactions that were reported in a state, each of them once.
    func transactions(_ state: SKPaymentTransactionState) -> [SKPaymentTransaction] {
        calls.withLock { calls in
            var found: [SKPaymentTransaction] = []
            for update in calls.updates where update.state == state {
                if !found.contains(where: { $0 === update.transaction }) {
                    found.append(update.transaction)
                }
            }
            return found
        }
    }

    func first(_ state: SKPaymentTransactionState) async throws -> SKPaymentTransaction {
        try await eventually("a transaction to be \(state)") {
            self.transactions(state).first
        }
    }

    func delivered(_ transaction: SKPaymentTransaction) async throws {
        try await eventually("\(transaction) to be delivered") {
            transaction.isDelivered ? () : nil
        }
    }

    func removed(_ transaction: SKPaymentTransaction) async throws {
        try await eventually("\(transaction) to be removed") {
            self.calls.withLock { $0.removed.contains { $0 === transaction } } ? () : nil
        }
    }

    func revoked(_ product: String) async throws {
        try await eventually("\(product) to be taken back") {
            self.calls.withLock { $0.revoked.contains(product) } ? () : nil
        }
    }

    func restored(_ count: Int) async throws {
        try await eventually("\(count) restores to end") {
            self.restores >= count ? () : nil
        }
    }
}

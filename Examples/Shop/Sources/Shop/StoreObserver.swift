import Foundation
import PaymentQueue

/// The app's only observer.
///
/// It shows each state, delivers purchases, and then finishes them.
final class StoreObserver: NSObject, SKPaymentTransactionObserver, Sendable {
    /// The events that the rest of the app waits for.
    enum Event: Sendable {
        /// The store has accepted a payment.
        case began(SKPaymentTransaction)
        /// A transaction is done for now: it is finished or waits for approval.
        case settled(SKPaymentTransaction)
        /// An earlier purchase was restored. It will be settled later.
        case restored(SKPaymentTransaction)
        /// A restore has ended.
        case restoreEnded((any Error)?)
    }

    let events: AsyncStream<Event>
    private let send: AsyncStream<Event>.Continuation
    private let wallet: Wallet
    init(wallet: Wallet) {
        self.wallet = wallet
        (events, send) = AsyncStream.makeStream()
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            switch transaction.transactionState {
            case .purchasing:
                let isAwaited = transaction.awaitsBuyer
                show(transaction, isAwaited ? "confirm it at your bank …" : "purchasing …")
                send.yield(.began(transaction))
            case .deferred:
                show(transaction, "waits for approval")
                send.yield(.settled(transaction))
            case .purchased:
                handlePurchased(transaction)
            case .failed:
                handleFailed(transaction)
            case .restored:
                handleRestored(transaction)
            case .unknown(let state):
                // A newer store sent this state. The transaction stays in the queue for a newer
                // app.
                show(transaction, "in a state that this app does not know: \(state)")
                send.yield(.settled(transaction))
            }
        }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        removedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            show(transaction, "finished")
            send.yield(.settled(transaction))
        }
    }

    func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue) {
        send.yield(.restoreEnded(nil))
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        restoreCompletedTransactionsFailedWithError error: any Error
    ) {
        send.yield(.restoreEnded(error))
    }

    func paymentQueue(_ queue: SKPaymentQueue, updatedDownloads downloads: [SKDownload]) {
        for download in downloads {
            guard let transaction = download.transaction else { continue }
            switch download.state {
            case .waiting, .active, .paused, .cancelled: break
            case .finished:
                show(transaction, "downloaded \(download.contentURL?.path ?? "?")")
            case .failed:
                // It is not delivered and therefore not finished. The next launch resumes the
                // download.
                show(transaction, "not downloaded: \(download.error.map { "\($0)" } ?? "?")")
                send.yield(.settled(transaction))
            }
            if transaction.downloads.allSatisfy({ $0.state == .finished }) {
                deliver(transaction)
            }
        }
    }

    private func handlePurchased(_ transaction: SKPaymentTransaction) {
        let downloads = transaction.downloads
        guard !downloads.isEmpty else { return deliver(transaction) }
        let length = downloads.reduce(0) { $0 + $1.expectedContentLength }
        show(transaction, "paid; downloading \(length) bytes …")
        for download in downloads { download.start() }
    }

    private func deliver(_ transaction: SKPaymentTransaction) {
        do {
            let isNew = try wallet.deliver(transaction)
            show(transaction, isNew ? "paid; delivered" : "paid; was delivered before")
        } catch {
            // It is not delivered and therefore not finished. The store will send it again.
            show(transaction, "not delivered: \(error)")
            send.yield(.settled(transaction))
            return
        }
        SKPaymentQueue.default().finishTransaction(transaction)
    }

    private func handleFailed(_ transaction: SKPaymentTransaction) {
        // Do not show an error to a buyer who cancelled the payment.
        if let error = transaction.error, (error as? SKError)?.code != .paymentCancelled {
            show(transaction, "failed: \(error)")
        }
        SKPaymentQueue.default().finishTransaction(transaction)
    }

    private func handleRestored(_ transaction: SKPaymentTransaction) {
        let original = transaction.original
        let date = original?.transactionDate?.formatted(.iso8601) ?? "?"
        show(
            transaction,
            "restored; first bought as \(original?.transactionIdentifier ?? "?") on \(date)"
        )
        send.yield(.restored(transaction))
        handlePurchased(transaction)
    }

    private func show(_ transaction: SKPaymentTransaction, _ message: String) {
        let id = transaction.transactionIdentifier.map { " \($0)" } ?? ""
        print("\(transaction.payment.productIdentifier)\(id): \(message)")
    }
}

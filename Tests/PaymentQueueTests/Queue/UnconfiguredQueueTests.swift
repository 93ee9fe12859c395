import Dispatch
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import PaymentQueue

/// A program that has not configured its store, and mistakes that any program can make.
@Suite(.timeLimit(.minutes(10))) struct UnconfiguredQueueTests {
    private final class Observer: SKPaymentTransactionObserver, Sendable {
        let failed = Mutex<[SKPaymentTransaction]>([])
        let failures: AsyncStream<any Error>
        private let send: AsyncStream<any Error>.Continuation

        init() { (failures, send) = AsyncStream.makeStream() }

        func paymentQueue(
            _ queue: SKPaymentQueue,
            updatedTransactions transactions: [SKPaymentTransaction]
        ) {
            for transaction in transactions where transaction.transactionState == .failed {
                failed.withLock { $0.append(transaction) }
                send.yield(transaction.error ?? SKError(.unknown))
            }
        }

        func paymentQueue(
            _ queue: SKPaymentQueue,
            restoreCompletedTransactionsFailedWithError error: any Error
        ) {
            send.yield(error)
        }
    }

    private static func inertQueue() -> SKPaymentQueue {
        SKPaymentQueue(configuration: nil, callbacks: DispatchQueue(label: "inert"))
    }

    @Test func theDefaultQueueIsOneAndInert() async throws {
        let queue = SKPaymentQueue.default()
        #expect(queue === SKPaymentQueue.default())
        #expect(!SKPaymentQueue.canMakePayments())
        #expect(!AppStore.canMakePayments)
        #expect(queue.storefront == nil)
        let observer = Observer()
        queue.add(observer)
        var failures = observer.failures.makeAsyncIterator()
        queue.add(SKPayment(product: .sample("coins")))
        #expect(await failures.next() as? SKError == .notConfigured)
        queue.restoreCompletedTransactions()
        #expect(await failures.next() as? SKError == .notConfigured)
        let transaction = try #require(observer.failed.withLock { $0.first })
        try await queue.finish(transaction)
        #expect(queue.transactions.isEmpty)
        await #expect(throws: SKError.notConfigured) { try await queue.products(for: ["coins"]) }
        await #expect(throws: SKError.notConfigured) { try await AppStore.sync() }
        await #expect(throws: SKError.notConfigured) { try await queue.leaveFamily() }
        queue.remove(observer)
        #expect(queue.transactionObservers.isEmpty)
    }

    /// Spec rule 4: once, however often it is asked for.
    @Test func withoutAConfigurationItWarnsOnce() async {
        await #expect(processExitsWith: .success) {
            let log = RecordedLog()
            LoggingSystem.bootstrap { _ in log.logger.handler }
            for _ in 1...3 { _ = SKPaymentQueue.default().transactions }
            #expect(!SKPaymentQueue.canMakePayments())
            let said = log.messages(at: .warning)
            exit(said.count == 1 && said[0].contains("SKPaymentQueue.configure") ? 0 : 1)
        }
    }

    @Test func finishingWhatIsStillPurchasingIsRaised() async {
        await #expect(processExitsWith: .failure) {
            SKPaymentQueue.default().finishTransaction(.payment(of: "coins"))
        }
    }

    @Test func anAppWithABadReceiptEndsWithTheStatusThatAsksForAnother() async {
        await #expect(processExitsWith: .exitCode(173)) { SKTerminateForInvalidReceipt() }
    }

    @Test func anAppMaySayWhatHappensBeforeItEndsForAnInvalidReceipt() async {
        await #expect(processExitsWith: .exitCode(7)) {
            var configuration = StoreConfiguration.unreachable
            configuration.invalidReceiptHandler = { exit(7) }
            SKPaymentQueue.configure(configuration)
            SKTerminateForInvalidReceipt()
        }
    }

    @Test(arguments: [SKPaymentTransactionState.purchasing, .deferred, .unknown("99")])
    func theAsyncFormSaysWhyItCannotBeFinished(_ state: SKPaymentTransactionState) async {
        let transaction = SKPaymentTransaction(
            payment: SKPayment(product: .sample("coins")),
            fields: .init(state: state)
        )
        await #expect(throws: SKPaymentQueue.NotFinishable(state: state)) {
            try await transaction.finish()
        }
    }

    @Test func theDelegateIsHeldWeakly() {
        final class Delegate: SKPaymentQueueDelegate {}
        let queue = Self.inertQueue()
        var delegate: Delegate? = Delegate()
        queue.delegate = delegate
        #expect(queue.delegate === delegate)
        delegate = nil
        #expect(queue.delegate == nil)
    }

    @Test func theQueueKeepsACopyOfAPayment() {
        let payment = SKMutablePayment(product: .sample("coins"))
        payment.quantity = 3
        let transaction = Self.inertQueue().begin(payment)
        payment.quantity = 4
        #expect(transaction.payment.quantity == 3)
        #expect(transaction.payment == payment.mutableCopyWith(quantity: 3))
    }
}

extension SKMutablePayment {
    fileprivate func mutableCopyWith(quantity: Int) -> SKMutablePayment {
        let copy = mutableCopy()
        copy.quantity = quantity
        return copy
    }
}

import EventTypes
import Foundation
import PaymentQueue
import StoreAPI
import Synchronization
import Testing
import TestSupport

extension EndToEnd {
    /// The client library against the running services.
    ///
    /// Tests run one at a time, because a program has only one default queue.
    @Suite(.serialized)
    struct PaymentQueues {
        @Test func aPurchaseIsReportedStepByStepUntilItIsFinished() async throws {
            try await withQueue { store, observer in
                let queue = SKPaymentQueue.default()
                queue.add(observer)
                let coins = try #require(try await product(SampleCatalog.coins))
                #expect(coins.price == Decimal(string: "0.99"))
                #expect(coins.displayPrice == "$0.99")
                let payment = SKMutablePayment(product: coins)
                payment.quantity = 2
                payment.applicationUsername = "ada@example.com"
                queue.add(payment)
                payment.quantity = 9
                let transaction = try await observer.first(.purchased)
                #expect(observer.states(of: transaction).first == .purchasing)
                #expect(transaction.payment.quantity == 2, "The queue keeps a copy.")
                #expect(transaction.payment.applicationUsername == "ada@example.com")
                #expect(transaction.transactionIdentifier != nil)
                try await observer.delivered(transaction)
                try await queue.finish(transaction)
                try await observer.removed(transaction)
                #expect(queue.transactions.isEmpty)
                try await queue.finish(transaction)
                let credits = try await store.client(account: "ada").credits().value
                #expect(credits.balances == ["coins": 200])
            }
        }

        @Test func aDeclinedPaymentEndsAsInvalid() async throws {
            try await expectFailure(paying: .decline, as: .paymentInvalid)
        }

        @Test(.onlySandbox("No card is called off by its buyer."))
        func aPaymentThatIsCalledOffEndsAsCancelled() async throws {
            try await expectFailure(paying: .cancelled, as: .paymentCancelled)
        }

        private func expectFailure(
            paying method: SandboxPaymentMethod,
            as code: SKError.Code
        ) async throws {
            try await withQueue(paying: method) { _, observer in
                let queue = SKPaymentQueue.default()
                queue.add(observer)
                queue.add(SKPayment(product: try #require(try await product(SampleCatalog.hint))))
                let transaction = try await observer.first(.failed)
                #expect((transaction.error as? SKError)?.code == code)
                #expect(transaction.transactionIdentifier == nil)
                try await queue.finish(transaction)
                try await observer.removed(transaction)
            }
        }

        @Test func unfinishedTransactionsAreReportedAtEveryLaunch() async throws {
            try await withQueue { store, first in
                SKPaymentQueue.default().add(first)
                let hint = try #require(try await product(SampleCatalog.hint))
                SKPaymentQueue.default().add(SKPayment(product: hint))
                let transaction = try await first.first(.purchased)
                for _ in 0..<2 {
                    SKPaymentQueue.configure(try Self.configuration(of: store))
                    let later = RecordingObserver()
                    SKPaymentQueue.default().add(later)
                    let again = try await later.first(.purchased)
                    #expect(again.transactionIdentifier == transaction.transactionIdentifier)
                }
            }
        }

        @Test func whatNobodyObservesIsNotAskedFor() async throws {
            try await withQueue { store, observer in
                let queue = SKPaymentQueue.default()
                queue.add(observer)
                #expect(queue.transactionObservers.count == 1)
                queue.remove(observer)
                #expect(queue.transactionObservers.isEmpty)
                _ = try await store.buy()
                let client = try store.client(account: "ada")
                try await eventually("the purchase to be delivered") {
                    try await client.unfinished().value.transactions.first?.isDelivered == true
                        ? true : nil
                }
                #expect(queue.transactions.isEmpty)
                queue.add(observer)
                _ = try await observer.first(.purchased)
            }
        }

        @Test func aRestoreTellsOfItsLastTransactionBeforeItsEnd() async throws {
            try await withQueue { store, observer in
                let queue = SKPaymentQueue.default()
                queue.add(observer)
                let pro = try #require(try await product(SampleCatalog.pro))
                queue.add(SKPayment(product: pro))
                let bought = try await observer.first(.purchased)
                try await observer.delivered(bought)
                try await queue.finish(bought)
                try await eventually("payments to know of the finish") {
                    try await store.client(account: "ada").restore().value.transactions.isEmpty
                        ? nil : true
                }
                queue.restoreCompletedTransactions()
                try await observer.restored(1)
                let restored = try await observer.first(.restored)
                #expect(restored.original?.transactionIdentifier == bought.transactionIdentifier)
                #expect(restored.original?.transactionDate == bought.transactionDate)
                #expect(restored.transactionIdentifier != bought.transactionIdentifier)
                queue.restoreCompletedTransactions(withApplicationUsername: "somebody else")
                try await observer.restored(2)
            }
        }

        @Test func anUnknownProductIsInvalidAndItsPaymentFails() async throws {
            try await withQueue { store, observer in
                let response = try await SKPaymentQueue.default().products(
                    for: ["com.example.nothing", SampleCatalog.hint.rawValue]
                )
                #expect(response.invalidProductIdentifiers == ["com.example.nothing"])
                let hint = try #require(response.products.first)
                try await store.change(SampleCatalog.hint, priceTo: 149)
                try await store.expectPayments(toAskFor: 149, for: SampleCatalog.hint)
                SKPaymentQueue.default().add(observer)
                SKPaymentQueue.default().add(SKPayment(product: hint))
                let transaction = try await observer.first(.failed)
                #expect((transaction.error as? SKError)?.code == .paymentInvalid)
                try await SKPaymentQueue.default().finish(transaction)
                try await observer.removed(transaction)
            }
        }

        /// The calls of the program's token function: each with the refused token, or none.
        private final class Tokens: Sendable {
            let asked = Mutex<[String?]>([])
        }

        @Test func theAppIsAskedForANewTokenBeforeARestore() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let ada = AccountID(unchecked: "ada")
                let old = try store.keys.token(account: ada, age: .seconds(600))
                let new = try store.keys.token(account: ada, age: .zero)
                let tokens = Tokens()
                var configuration = try Self.configuration(of: store)
                // An app that keeps its token until the store refuses it.
                configuration.accountToken = { refused in
                    tokens.asked.withLock { $0.append(refused) }
                    return refused == nil ? old : new
                }
                SKPaymentQueue.configure(configuration)
                let queue = SKPaymentQueue.default()
                _ = try await queue.products(for: [SampleCatalog.pro.rawValue])
                #expect(tokens.asked.withLock { $0 } == [nil])
                let observer = RecordingObserver()
                queue.add(observer)
                queue.restoreCompletedTransactions()
                try await observer.restored(1)
                #expect(tokens.asked.withLock { $0 } == [nil, nil, old])

                // An app whose buyer does not sign in.
                configuration.accountToken = { _ in throw SKError(.paymentCancelled) }
                SKPaymentQueue.configure(configuration)
                let other = SKPaymentQueue.default()
                other.add(observer)
                other.restoreCompletedTransactions()
                try await eventually("the restore to fail") {
                    observer.failedRestores.isEmpty ? nil : true
                }
                #expect((observer.failedRestores.first as? SKError)?.code == .paymentCancelled)
                other.remove(observer)
            }
        }

        private func product(_ id: ProductID) async throws -> SKProduct? {
            try await SKPaymentQueue.default().products(for: [id.rawValue]).products.first
        }

        private func withQueue(
            paying method: SandboxPaymentMethod = .success,
            _ body: (StoreHarness, RecordingObserver) async throws -> Void
        ) async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                SKPaymentQueue.configure(try Self.configuration(of: store, paying: method))
                try await body(store, RecordingObserver())
                for observer in SKPaymentQueue.default().transactionObservers {
                    SKPaymentQueue.default().remove(observer)
                }
            }
        }

        /// The configuration of an account's app.
        ///
        /// With Stripe the app saves a card when it first pays.
        static func configuration(
            of store: StoreHarness,
            as account: String = "ada",
            paying method: SandboxPaymentMethod = .success
        ) throws -> StoreConfiguration {
            let urls = store.urls
            let client = try store.client(account: account)
            return StoreConfiguration(
                addresses: .init(
                    catalog: urls.catalog,
                    payments: urls.payments,
                    fulfillment: urls.fulfillment,
                    receipts: urls.receipts
                ),
                storefront: "USA",
                language: "en-US",
                paymentMethod: { _ in try await client.payingMethod(like: method).rawValue },
                accountToken: { _ in client.token }
            )
        }
    }
}

import EventTypes
import Foundation
import PaymentQueue
import Postgres
import StoreAPI
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// A store whose queue was restored from a backup, and a client that connected before (trap
    /// 20).
    @Suite(.serialized)
    struct RestoredStores {
        private struct Setup {
            let store: StoreHarness
            let fulfillment: HTTPProxy
            let queue: SKPaymentQueue
            let observer: RecordingObserver

            /// Copies the service's current database to a template.
            ///
            /// The service is stopped in the meantime.
            func backUp() async throws {
                try await replace { current, backup in
                    ["CREATE DATABASE \"\(backup)\" TEMPLATE \"\(current)\""]
                }
            }

            /// Restores the service's database from the template.
            func restore() async throws {
                try await replace { current, backup in
                    [
                        "DROP DATABASE \"\(current)\" WITH (FORCE)",
                        "ALTER DATABASE \"\(backup)\" RENAME TO \"\(current)\"",
                    ]
                }
            }

            private func replace(
                _ statements: (_ current: String, _ backup: String) -> [String]
            ) async throws {
                let process = store.process(.fulfillment)
                await process.kill()
                let url = try #require(URL(string: store.databaseURL(.fulfillment)))
                let current = url.lastPathComponent
                for statement in statements(current, current + "_backup") {
                    // The server ends a killed client's session after a moment.
                    try await eventually("\(statement)") {
                        do {
                            try await store.cluster.asSuperuser { connection in
                                try connection.execute(SQL("\(unsafe: statement)"))
                            }
                            return true
                        } catch is PostgresError {
                            return nil
                        }
                    }
                }
                try await process.start()
                try await process.waitUntilReady()
            }

            func bought(_ product: ProductID) async throws -> SKPaymentTransaction {
                _ = try await store.buy(product)
                return try await eventually("\(product) to be told") {
                    observer.transactions(.purchased).first {
                        $0.payment.productIdentifier == product.rawValue && $0.isDelivered
                    }
                }
            }
        }

        private func withBackup(_ body: (Setup) async throws -> Void) async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let fulfillment = try await HTTPProxy.start(inFrontOf: store.urls.fulfillment)
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                configuration.addresses.fulfillment = fulfillment.url
                configuration.retryMax = .milliseconds(200)
                SKPaymentQueue.configure(configuration)
                let setup = Setup(
                    store: store,
                    fulfillment: fulfillment,
                    queue: .default(),
                    observer: RecordingObserver()
                )
                setup.queue.add(setup.observer)
                try await body(setup)
                setup.queue.remove(setup.observer)
                await fulfillment.cut()
            }
        }

        @Test func afterARestoredBackupTheQueueIsWhatTheBackupHas() async throws {
            try await withBackup { setup in
                let hint = try await setup.bought(SampleCatalog.hint)
                try await setup.backUp()
                let coins = try await setup.bought(SampleCatalog.coins)
                try await hint.finish()
                try await setup.observer.removed(hint)
                try await setup.restore()
                let again = try await eventually("the hint to be told") {
                    setup.observer.transactions(.purchased).first {
                        $0 !== hint && $0.transactionIdentifier == hint.transactionIdentifier
                    }
                }
                try await again.finish()
                try await setup.observer.removed(again)
                try await setup.observer.removed(coins)
            }
        }

        /// The revision reveals nothing, because the queue has advanced beyond the client's
        /// revision.
        @Test func aQueueThatHasGoneOnSinceItsBackupIsNoticedAllTheSame() async throws {
            try await withBackup { setup in
                let hint = try await setup.bought(SampleCatalog.hint)
                try await setup.backUp()
                try await hint.finish()
                try await setup.observer.removed(hint)
                await setup.fulfillment.cut()
                try await setup.restore()
                for _ in 1...3 { _ = try await setup.store.buy(SampleCatalog.coins) }
                let ada = try setup.store.client(account: "ada")
                try await eventually("the queue to have gone on") {
                    let queue = try await ada.unfinished().value
                    return queue.transactions.count { $0.isDelivered } == 4 ? true : nil
                }
                try await setup.fulfillment.resume()
                let again = try await eventually("the hint to be told") {
                    setup.observer.transactions(.purchased).first {
                        $0 !== hint && $0.transactionIdentifier == hint.transactionIdentifier
                    }
                }
                try await again.finish()
                try await eventually("all to be told") {
                    setup.queue.transactions.count == 3 ? true : nil
                }
            }
        }

        /// No stream reports a transaction that another device finished before the stream began.
        @Test func aRestoreWhoseTransactionAnotherDeviceFinishedFirstEndsAsWell() async throws {
            try await withBackup { setup in
                let pro = try await setup.bought(SampleCatalog.pro)
                try await pro.finish()
                let ada = try setup.store.client(account: "ada")
                // `payments` restores only transactions that it knows to be finished.
                let books = try await setup.store.agreedBooks()
                #expect(books.map { $0.entry?.isFinished } == [true])
                setup.queue.remove(setup.observer)
                var configuration = try EndToEnd.PaymentQueues.configuration(of: setup.store)
                configuration.requestTimeout = .seconds(10)
                SKPaymentQueue.configure(configuration)
                let queue = SKPaymentQueue.default()
                queue.restoreCompletedTransactions()
                let restored = try await eventually("the purchase to be restored") {
                    try await ada.unfinished().value.transactions
                        .first { $0.transaction.state == .restored && $0.isDelivered }
                }
                try await ada.finishUntilDone(restored.transaction.id)
                let late = RecordingObserver()
                queue.add(late)
                try await late.restored(1)
                #expect(late.failedRestores.isEmpty)
                #expect(late.transactions(.restored).isEmpty)
                queue.remove(late)
            }
        }
    }
}

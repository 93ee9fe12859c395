import EventTypes
import Foundation
import PaymentQueue
import StoreAPI
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// The client library during failures of the network or the store.
    @Suite(.serialized)
    struct Faults {
        /// A store behind proxies, and an observer of the default queue.
        private struct Setup {
            let store: StoreHarness
            let payments: HTTPProxy
            let fulfillment: HTTPProxy
            let observer = RecordingObserver()
            let queue: SKPaymentQueue

            func product(_ id: ProductID) async throws -> SKProduct {
                try #require(try await queue.products(for: [id.rawValue]).products.first)
            }

            /// Returns the number of transactions, and the number of charges by the processor.
            func counts() async throws -> (transactions: Int, charges: Int) {
                let books = try await store.reconcile().transactions ?? []
                return (books.count, books.flatMap(\.charges).count)
            }
        }

        private func withProxies(
            silenceMax: Duration = .seconds(45),
            _ body: (Setup) async throws -> Void
        ) async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let payments = try await HTTPProxy.start(inFrontOf: store.urls.payments)
                let fulfillment = try await HTTPProxy.start(inFrontOf: store.urls.fulfillment)
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                configuration.addresses.payments = payments.url
                configuration.addresses.fulfillment = fulfillment.url
                configuration.retryBase = .milliseconds(50)
                configuration.retryMax = .milliseconds(200)
                configuration.streamSilenceMax = silenceMax
                SKPaymentQueue.configure(configuration)
                let setup = Setup(
                    store: store,
                    payments: payments,
                    fulfillment: fulfillment,
                    queue: .default()
                )
                try await body(setup)
                setup.queue.remove(setup.observer)
                await payments.cut()
                await fulfillment.cut()
            }
        }

        @Test func anAnswerThatIsLostIsAskedForAgainAndNothingHappensTwice() async throws {
            try await withProxies { setup in
                setup.queue.add(setup.observer)
                let accepted = setup.payments.hold(at: .beforeResponse("POST \(Routes.payments)"))
                setup.queue.add(SKPayment(product: try await setup.product(SampleCatalog.coins)))
                try await accepted.reached()
                await setup.payments.cut()
                accepted.release()
                try await setup.payments.resume()
                let transaction = try await setup.observer.first(.purchased)
                #expect(setup.observer.states(of: transaction) == [.purchasing, .purchased])
                #expect(setup.queue.transactions.count == 1)

                let finished = setup.fulfillment.hold(at: .beforeResponse("/finish"))
                setup.queue.finishTransaction(transaction)
                setup.queue.finishTransaction(transaction)
                try await finished.reached()
                await setup.fulfillment.cut()
                finished.release()
                try await setup.fulfillment.resume()
                try await setup.observer.removed(transaction)
                #expect(setup.queue.transactions.isEmpty)
                let counts = try await setup.counts()
                #expect(counts == (1, 1))
                let credits = try await setup.store.client(account: "ada").credits().value
                #expect(credits.balances == ["coins": 100])
            }
        }

        @Test func withoutObserversTheStoreHearsNothing() async throws {
            try await withProxies { setup in
                #expect(setup.fulfillment.requests.isEmpty)
                setup.queue.add(setup.observer)
                try await eventually("the stream to be opened") {
                    setup.fulfillment.requests.count == 1 ? true : nil
                }
                setup.queue.remove(setup.observer)
                _ = try await setup.store.buy()
                let client = try setup.store.client(account: "ada")
                try await eventually("the purchase to be delivered") {
                    try await client.unfinished().value.transactions.first?.isDelivered == true
                        ? true : nil
                }
                #expect(setup.fulfillment.requests.count == 1, "One stream, and no poll beside it.")
                #expect(setup.queue.transactions.isEmpty)
                setup.queue.add(setup.observer)
                _ = try await setup.observer.first(.purchased)
                #expect(setup.fulfillment.requests.count == 2)
            }
        }

        @Test func afterAPartitionWhatWasBoughtMeanwhileIsDeliveredOnce() async throws {
            try await withProxies { setup in
                setup.queue.add(setup.observer)
                _ = try await setup.store.buy(SampleCatalog.hint)
                let first = try await setup.observer.first(.purchased)
                await setup.fulfillment.cut()
                _ = try await setup.store.buy(SampleCatalog.coins)
                _ = try await setup.store.buy(SampleCatalog.pro)
                try await setup.fulfillment.resume()
                try await eventually("three purchases to be told") {
                    setup.observer.transactions(.purchased).count == 3 ? true : nil
                }
                #expect(
                    setup.observer.states(of: first).count { $0 == .purchased } == 1,
                    "A stream that resumes repeats nothing."
                )
            }
        }

        @Test func aNetworkThatIsSilentlyGoneIsNoticed() async throws {
            try await withProxies(silenceMax: .seconds(1)) { setup in
                let silence = setup.fulfillment.hold(
                    at: .beforeResponse("GET \(Routes.queue) "),
                    occurrence: 2
                )
                setup.queue.add(setup.observer)
                try await eventually("the stream to be opened") {
                    setup.fulfillment.requests.count >= 1 ? true : nil
                }
                _ = try await setup.store.buy()
                try await silence.reached()
                try await eventually("another stream to be opened") {
                    setup.fulfillment.requests.count >= 2 ? true : nil
                }
                silence.release()
                _ = try await setup.observer.first(.purchased)
            }
        }

        @Test func aRestoreFailsWhereTheStoreIsAwayAndDoesNotEndTwice() async throws {
            try await withProxies { setup in
                var configuration = try EndToEnd.PaymentQueues.configuration(of: setup.store)
                configuration.addresses.payments = setup.payments.url
                configuration.requestTimeout = .seconds(10)
                configuration.retryMax = .milliseconds(100)
                SKPaymentQueue.configure(configuration)
                let queue = SKPaymentQueue.default()
                queue.add(setup.observer)
                await setup.payments.cut()
                queue.restoreCompletedTransactions()
                try await eventually("the restore to fail") {
                    setup.observer.failedRestores.isEmpty ? nil : true
                }
                #expect(setup.observer.restores == 0)
                let error = setup.observer.failedRestores.first as? SKError
                #expect(error?.code == .cloudServiceNetworkConnectionFailed)
                try await setup.payments.resume()
                queue.restoreCompletedTransactions()
                try await setup.observer.restored(1)
                #expect(setup.observer.failedRestores.count == 1)
                queue.remove(setup.observer)
            }
        }

        @Test func aServerThatAnswersGarbageIsAnErrorAndNoCrash() async throws {
            let server = try await WebhookReceiver.start()
            server.reply { _, _ in .status(200) }
            let url = String(server.url.dropLast("/deliveries".count))
            var configuration = StoreConfiguration(
                addresses: .init(origin: url),
                storefront: "USA",
                language: "en-US",
                paymentMethod: { _ in "x" },
                accountToken: { _ in "x" }
            )
            configuration.retryMax = .milliseconds(100)
            configuration.requestTimeout = .milliseconds(500)
            SKPaymentQueue.configure(configuration)
            let queue = SKPaymentQueue.default()
            let observer = RecordingObserver()
            queue.add(observer)
            await #expect(throws: SKError.self) { try await queue.products(for: ["a"]) }
            await #expect(throws: SKError.self) { try await AppStore.sync() }
            queue.restoreCompletedTransactions()
            try await eventually("the restore to fail") {
                observer.failedRestores.isEmpty ? nil : true
            }
            queue.remove(observer)
            await server.stop()
        }
    }
}

import EventTypes
import Foundation
import Logging
import PaymentQueue
import StoreAPI
import Synchronization
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// Events in the life of a purchase, with the client library against the running services.
    @Suite(.serialized)
    struct Scenarios {
        private func product(_ id: ProductID) async throws -> SKProduct {
            let response = try await SKPaymentQueue.default().products(for: [id.rawValue])
            return try #require(response.products.first)
        }

        private func withQueue(
            _ change: (inout StoreConfiguration) -> Void = { _ in },
            _ body: (StoreHarness, SKPaymentQueue, RecordingObserver) async throws -> Void
        ) async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                change(&configuration)
                SKPaymentQueue.configure(configuration)
                let queue = SKPaymentQueue.default()
                let observer = RecordingObserver()
                try await body(store, queue, observer)
                for observer in queue.transactionObservers { queue.remove(observer) }
            }
        }

        /// Spec rules 15, 23 and 46.
        @Test(arguments: RandomSeed.ofThisRun)
        func earlyAdditionsAreReportedToAllObserversOnEachResume(
            seed: RandomSeed
        ) async throws {
            try await withQueue { _, queue, _ in
                var random = seed.generator()
                queue.add(SKPayment(product: try await product(SampleCatalog.coins)))
                let observers = (0..<4).map { _ in RecordingObserver() }
                for observer in observers.shuffled(using: &random) { queue.add(observer) }
                let transaction = try await observers[0].first(.purchased)
                for observer in observers {
                    #expect(try await observer.first(.purchased) === transaction)
                }
                for _ in 0..<3 { queue.applicationDidBecomeActive() }
                for observer in observers {
                    try await eventually("three resumes to be told of") {
                        let states = observer.states(of: transaction)
                        return states.count { $0 == .purchased } == 4 ? true : nil
                    }
                }
                try await queue.finish(transaction)
                for observer in observers { try await observer.removed(transaction) }
                queue.applicationDidBecomeActive()
                #expect(observers.map { $0.states(of: transaction).count } == [5, 5, 5, 5])
            }
        }

        /// Spec rule 126: as many retries as in an hour with the longest pause of half a minute.
        @Test func afterAnHourWithoutNetworkWhatWasPaidIsDeliveredOnce() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let proxies = [
                    try await HTTPProxy.start(inFrontOf: store.urls.payments),
                    try await HTTPProxy.start(inFrontOf: store.urls.fulfillment),
                ]
                let tries = RecordedLog()
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                configuration.addresses.payments = proxies[0].url
                configuration.addresses.fulfillment = proxies[1].url
                configuration.retryBase = .milliseconds(1)
                configuration.retryMax = .milliseconds(10)
                configuration.logger = tries.logger
                SKPaymentQueue.configure(configuration)
                let queue = SKPaymentQueue.default()
                let observer = RecordingObserver()
                queue.add(observer)
                let accepted = proxies[0].hold(at: .beforeResponse("POST \(Routes.payments)"))
                queue.add(SKPayment(product: try await product(SampleCatalog.coins)))
                try await accepted.reached()
                for proxy in proxies { await proxy.cut() }
                accepted.release()
                let count = tries.count("The queue's stream broke off")
                try await eventually("an hour's tries") {
                    tries.count("The queue's stream broke off") >= count + 240 ? true : nil
                }
                let client = try store.client(account: "ada")
                #expect(try await client.credits().value.balances == ["coins": 100])
                #expect(observer.transactions(.purchased).isEmpty)
                for proxy in proxies { try await proxy.resume() }
                let transaction = try await observer.first(.purchased)
                #expect(observer.states(of: transaction) == [.purchasing, .purchased])
                try await queue.finish(transaction)
                try await observer.removed(transaction)
                #expect(try await client.credits().value.balances == ["coins": 100])
                queue.remove(observer)
            }
        }

        /// Spec rule 129: the merchant's own check is a delivery that the merchant does not
        /// confirm.
        @Test func whatTheMerchantHoldsIsUnfinishedUntilItIsReleased() async throws {
            let merchant = try await WebhookReceiver.start()
            let isReleased = Mutex(false)
            merchant.reply { _, _ in .status(isReleased.withLock { $0 } ? 200 : 503) }
            try await withQueue { store, queue, observer in
                try await store.sellGift(deliveredTo: merchant.url)
                queue.add(observer)
                queue.add(SKPayment(product: try await product(SampleCatalog.gift)))
                let transaction = try await observer.first(.purchased)
                queue.finishTransaction(transaction)
                try await eventually("the merchant to be asked again") {
                    merchant.deliveries.count >= 3 ? true : nil
                }
                #expect(!transaction.isDelivered)
                #expect(queue.transactions.count == 1, "It is held.")
                isReleased.withLock { $0 = true }
                try await observer.removed(transaction)
                #expect(transaction.isDelivered)
                #expect(merchant.confirmed.count == 1)
                #expect(Set(merchant.deliveries.map(\.id)).count == 1)
            }
            await merchant.stop()
        }

        /// Spec rules 35 and 46: the program is not running when the wait ends.
        @Test(
            .onlySandbox("No card waits for approval."),
            arguments: [ApprovalRequest.Decision.approve, .decline, nil]
        )
        func whatAwaitsApprovalOutlivesTheProgramHoweverItEnds(
            decision: ApprovalRequest.Decision?
        ) async throws {
            var options = StoreOptions()
            if decision == nil { options.settings[.payments] = ["APPROVAL_EXPIRY_MS": "8000"] }
            try await withStore(options) { store in
                try await store.importSampleCatalog()
                let ada = try store.client(account: "ada")
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                configuration.paymentMethod = { _ in
                    SandboxPaymentMethod.needsApproval.rawValue
                }
                SKPaymentQueue.configure(configuration)
                let first = RecordingObserver()
                SKPaymentQueue.default().add(first)
                SKPaymentQueue.default().add(
                    SKPayment(product: try await product(SampleCatalog.hint))
                )
                let asked = try await first.first(.deferred)
                let id = try #require(TransactionID(rawValue: asked.id))
                SKPaymentQueue.default().remove(first)
                if let decision {
                    SKPaymentQueue.configure(configuration)
                    let second = RecordingObserver()
                    SKPaymentQueue.default().add(second)
                    #expect(try await second.first(.deferred).id == asked.id)
                    SKPaymentQueue.default().remove(second)
                    _ = try await store.administrator.decide(decision, on: id).value
                }
                let isApproved = decision == .approve
                try await eventually("it to end while no program runs") {
                    try await ada.unfinished().value.transactions.first?.transaction.state
                        == (isApproved ? .purchased : .failed) ? true : nil
                }
                SKPaymentQueue.configure(configuration)
                let last = RecordingObserver()
                SKPaymentQueue.default().add(last)
                let ended = try await last.first(isApproved ? .purchased : .failed)
                #expect(ended.id == asked.id)
                #expect(
                    (ended.error as? SKError)?.code == (isApproved ? nil : .paymentNotAllowed)
                )
                try await ended.finish()
                #expect(try await ada.unfinished().value.transactions.isEmpty)
                SKPaymentQueue.default().remove(last)
            }
        }

        /// Spec rules 74 to 76.
        @Test func ofThreePurchasesTheOneThatIsPickedIsRestored() async throws {
            try await withQueue { store, queue, observer in
                let products = ["com.example.map", "com.example.film"].map {
                    ProductID(unchecked: $0)
                }
                var draft = SampleCatalog.gift(deliveredTo: "")
                draft.type = .nonConsumable
                draft.deliveryPlan = [.entitlement]
                for product in products {
                    _ = try await store.administrator.put(draft, as: product)
                    try await store.waitUntilSellable(product)
                }
                queue.add(observer)
                for id in [SampleCatalog.pro] + products {
                    guard case .success(let bought) = try await product(id).purchase() else {
                        throw HarnessError("\(id) was not bought.")
                    }
                    try await bought.finish()
                }
                // `payments` restores only transactions that it knows to be finished.
                let bought = try await store.agreedBooks()
                #expect(bought.count { $0.entry?.isFinished == true } == 3)
                queue.restoreCompletedTransactions(of: ["com.example.map", "no product"])
                try await observer.restored(1)
                let restored = observer.transactions(.restored)
                #expect(restored.map(\.payment.productIdentifier) == ["com.example.map"])
                queue.restoreCompletedTransactions(of: [])
                try await observer.restored(2)
                #expect(observer.transactions(.restored).count == 1)
            }
        }

        /// A transaction belongs to the account that bought it.
        @Test func anAccountsPurchaseIsFinishedForItWhenAnotherIsConfigured() async throws {
            try await withQueue { store, queue, observer in
                queue.add(observer)
                queue.add(SKPayment(product: try await product(SampleCatalog.coins)))
                let transaction = try await observer.first(.purchased)
                try await observer.delivered(transaction)
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                let bob = try store.client(account: "bob").token
                configuration.accountToken = { _ in bob }
                SKPaymentQueue.configure(configuration)
                try await transaction.finish()
                let client = try store.client(account: "ada")
                #expect(try await client.unfinished().value.transactions.isEmpty)
            }
        }

        /// A store with its own certificate authority, behind TLS.
        @Test func aStoreOfAnOwnAuthorityIsSpokenToOnlyWhereItIsTrusted() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let authority = try TLSAuthority()
                func proxy(_ url: String) async throws -> HTTPProxy {
                    try await HTTPProxy.start(inFrontOf: url, certifiedBy: authority)
                }
                let proxies = [
                    try await proxy(store.urls.catalog), try await proxy(store.urls.payments),
                    try await proxy(store.urls.fulfillment), try await proxy(store.urls.receipts),
                ]
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                configuration.addresses = .init(
                    catalog: proxies[0].url,
                    payments: proxies[1].url,
                    fulfillment: proxies[2].url,
                    receipts: proxies[3].url
                )
                configuration.paymentPatience = .milliseconds(100)
                configuration.retryMax = .milliseconds(50)
                let coins = try await coinsOf(store)
                let stranger = try TLSAuthority()
                for roots in [nil, try TrustedRoots(pem: try stranger.pem)] {
                    configuration.trustedRoots = roots
                    SKPaymentQueue.configure(configuration)
                    let error = await #expect(throws: SKError.self) {
                        try await SKPaymentQueue.default().products(for: [coins.productIdentifier])
                    }
                    #expect(error?.code == .cloudServiceNetworkConnectionFailed)
                    #expect(error?.detail.contains("certificate is not trusted") == true)
                    let failure = await #expect(throws: SKError.self) {
                        try await coins.purchase()
                    }
                    #expect(failure?.detail.contains("certificate is not trusted") == true)
                }
                #expect(proxies.allSatisfy { $0.requests.isEmpty }, "Nothing was sent.")

                configuration.trustedRoots = try TrustedRoots(pem: try authority.pem)
                configuration.addresses.catalog = proxies[0].url.replacing(
                    "localhost",
                    with: "127.0.0.1"
                )
                SKPaymentQueue.configure(configuration)
                await #expect(throws: SKError.self) {
                    try await SKPaymentQueue.default().products(for: [coins.productIdentifier])
                }
                #expect(proxies[0].requests.isEmpty, "Another name than the certificate's.")

                configuration.addresses.catalog = proxies[0].url
                SKPaymentQueue.configure(configuration)
                guard case .success(let bought) = try await product(SampleCatalog.coins).purchase()
                else { throw HarnessError("Nothing was bought.") }
                try await bought.finish()
                _ = try await SKPaymentQueue.default().refreshReceipt()
                #expect(proxies.allSatisfy { !$0.requests.isEmpty })
                for proxy in proxies { await proxy.cut() }
            }
        }

        /// Returns the coins, as seen by a client that connects to the store without TLS.
        private func coinsOf(_ store: StoreHarness) async throws -> SKProduct {
            SKPaymentQueue.configure(try EndToEnd.PaymentQueues.configuration(of: store))
            return try await product(SampleCatalog.coins)
        }
    }
}

import EventTypes
import Foundation
import PaymentQueue
import StoreAPI
import Synchronization
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// The store's account settings in the client library (spec rules 1 to 10, 114, 116).
    @Suite(.serialized)
    struct AccountState {
        private static let france = EventTypes.Storefront(unchecked: "FRA")

        private struct Setup {
            let store: StoreHarness
            let queue: SKPaymentQueue
            let app: App

            func product(_ id: ProductID = SampleCatalog.coins) async throws -> SKProduct {
                try #require(try await queue.products(for: [id.rawValue]).products.first)
            }

            /// Returns the transaction's number in the store; `nil` before the store has answered.
            func id(of transaction: SKPaymentTransaction) -> TransactionID? {
                TransactionID(rawValue: transaction.id)
            }

            func error(of transaction: SKPaymentTransaction) -> SKError.Code? {
                (transaction.error as? SKError)?.code
            }
        }

        private func withQueue(
            paying method: SandboxPaymentMethod = .success,
            _ body: (Setup) async throws -> Void
        ) async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let configuration = try EndToEnd.PaymentQueues.configuration(
                    of: store,
                    paying: method
                )
                SKPaymentQueue.configure(configuration)
                let queue = SKPaymentQueue.default()
                let app = App()
                queue.delegate = app
                queue.add(app)
                try await body(Setup(store: store, queue: queue, app: app))
                queue.remove(app)
            }
        }

        @Test func aBlockedAccountMayNotPayUnderEitherName() async throws {
            try await withQueue { setup in
                #expect(SKPaymentQueue.canMakePayments() && AppStore.canMakePayments)
                let coins = try await setup.product()
                for isAllowed in [false, true] {
                    try await setup.store.change("ada", canMakePayments: isAllowed)
                    try await eventually("the queue to know") {
                        SKPaymentQueue.canMakePayments() == isAllowed ? true : nil
                    }
                    #expect(AppStore.canMakePayments == isAllowed)
                    guard !isAllowed else { continue }
                    // The store refuses even a client that skips the check.
                    let error = await #expect(throws: SKError.self) { try await coins.purchase() }
                    #expect(error?.code == .paymentNotAllowed)
                }
                guard case .success = try await coins.purchase() else {
                    Issue.record("Who may pay again buys.")
                    return
                }
            }
        }

        @Test(arguments: [true, false])
        func aChangedStorefrontIsPaidThereOrNotAtAll(goesOn: Bool) async throws {
            try await withQueue { setup in
                let coins = try await setup.product()
                #expect(coins.displayPrice == "$0.99")
                #expect(setup.queue.storefront?.countryCode == "USA")
                setup.app.state.withLock { $0.goesOn = goesOn }
                try await setup.store.change("ada", storefront: Self.france)
                setup.queue.add(SKPayment(product: coins))
                let transaction = try await setup.app.recorder.first(goesOn ? .purchased : .failed)
                let asked = setup.app.state.withLock { $0.storefrontsAsked }
                #expect(asked == ["FRA"])
                #expect(await Storefront.current?.countryCode == "FRA")
                #expect(setup.queue.storefront?.countryCode == "FRA")
                let counts = try await setup.store.charged()
                if goesOn {
                    #expect(transaction.price == Decimal(string: "1.19"))
                    #expect(counts == ["EUR": 119])
                } else {
                    #expect(setup.error(of: transaction) == .storeProductNotAvailable)
                    #expect(counts.isEmpty)
                }
                try await eventually("the change to be told") {
                    setup.app.state.withLock { $0.storefrontChanges } == 1 ? true : nil
                }
                #expect(try await setup.product().price == Decimal(string: "1.19"))
                try await setup.queue.finish(transaction)
            }
        }

        /// Spec rule 9 for an accepted payment.
        ///
        /// It waits for an approval that comes after the account has moved.
        @Test(.onlySandbox("No card waits for approval."), arguments: [true, false])
        func aDeferredPaymentGoesOnInTheNewStorefrontOrFails(goesOn: Bool) async throws {
            try await withQueue(paying: .needsApproval) { setup in
                setup.app.state.withLock { $0.goesOn = goesOn }
                setup.queue.add(SKPayment(product: try await setup.product()))
                let transaction = try await setup.app.recorder.first(.deferred)
                let first = try #require(setup.id(of: transaction))
                try await setup.store.change("ada", storefront: Self.france)
                _ = try await setup.store.administrator.decide(.approve, on: first).value
                if goesOn {
                    let second = try await eventually("the payment to go on") {
                        let id = setup.id(of: transaction)
                        return id == first ? nil : id
                    }
                    // The approval was for another price.
                    _ = try await eventually("the payment to be approved") {
                        try await setup.store.administrator.decide(.approve, on: second).valueIfAny
                    }
                    #expect(try await setup.app.recorder.first(.purchased) === transaction)
                    #expect(transaction.price == Decimal(string: "1.19"))
                    #expect(setup.app.recorder.transactions(.failed).isEmpty)
                    #expect(try await setup.store.charged() == ["EUR": 119])
                } else {
                    #expect(try await setup.app.recorder.first(.failed) === transaction)
                    #expect(setup.error(of: transaction) == .storeProductNotAvailable)
                    #expect(try await setup.store.charged().isEmpty)
                }
                #expect(setup.app.state.withLock { $0.storefrontsAsked } == ["FRA"])
                try await setup.queue.finish(transaction)
                let client = try setup.store.client(account: "ada")
                try await eventually("nothing to be left in the queue") {
                    try await client.unfinished().value.transactions.isEmpty ? true : nil
                }
            }
        }

        /// Spec rule 9 for a payment that waits behind another payment for the same non-consumable.
        @Test(.onlySandbox("A request that Stripe lost is sent again, and charged."))
        func aPaymentThatWaitedGoesOnInTheNewStorefront() async throws {
            try await withQueue { setup in
                let found = try await setup.queue.products(for: [SampleCatalog.pro.rawValue])
                let pro = try #require(found.products.first)
                // Its answer is lost, and the processor is queried until the payment fails.
                let first = try await setup.store.buy(SampleCatalog.pro, by: .unknownNotCharged)
                setup.queue.add(SKPayment(product: pro))
                try await eventually("the payment to be accepted") {
                    let ids = setup.queue.transactions.compactMap { setup.id(of: $0) }
                    return ids.contains { $0 != first.transactionID } ? true : nil
                }
                try await setup.store.change("ada", storefront: Self.france)
                let purchased = try await setup.app.recorder.first(.purchased)
                #expect(purchased.price == Decimal(string: "5.99"))
                #expect(try await setup.store.charged() == ["EUR": 599])
                #expect(setup.app.state.withLock { $0.storefrontsAsked.contains("FRA") })
            }
        }

        @Test func aPurchaseBegunOutsideTheAppIsAddedNowOrLaterAndOnce() async throws {
            try await withQueue { setup in
                setup.app.state.withLock { $0.addsStorePayments = true }
                let first = try await setup.store.begin()
                let bought = try await setup.app.recorder.first(.purchased)
                #expect(bought.payment.productIdentifier == first.productID.rawValue)
                try await setup.queue.finish(bought)

                setup.app.state.withLock { $0.addsStorePayments = false }
                _ = try await setup.store.begin(SampleCatalog.hint)
                let held = try await eventually("the second one to be offered") {
                    setup.app.state.withLock {
                        $0.storePayments.count == 2 ? $0.storePayments[1] : nil
                    }
                }
                #expect(setup.queue.transactions.isEmpty)
                setup.queue.add(held)
                setup.queue.add(held)
                try await eventually("one to be bought, and one to be refused") {
                    setup.app.recorder.transactions(.failed).count == 1
                        && setup.app.recorder.transactions(.purchased).count == 2 ? true : nil
                }
                #expect(try await setup.store.charged() == ["USD": 99 + 59])
            }
        }

        @Test func whatTheAppHoldsBackIsOfferedAtTheNextLaunchAgain() async throws {
            try await withQueue { setup in
                _ = try await setup.store.begin(SampleCatalog.hint)
                for launch in 1...2 {
                    try await eventually("launch \(launch) to be offered it") {
                        setup.app.state.withLock { $0.storePayments.count } == launch ? true : nil
                    }
                    setup.queue.remove(setup.app)
                    SKPaymentQueue.configure(
                        try EndToEnd.PaymentQueues.configuration(of: setup.store)
                    )
                    SKPaymentQueue.default().add(setup.app)
                }
                SKPaymentQueue.default().remove(setup.app)
                #expect(try await setup.store.charged().isEmpty)
            }
        }

        @Test(.onlySandbox("A card is interrupted only by its buyer, and resumed by naming it."))
        func anInterruptedPurchaseFailsAndIsPurchasedLaterWithOneCharge() async throws {
            try await withQueue(paying: .interrupted) { setup in
                setup.queue.add(SKPayment(product: try await setup.product()))
                let failed = try await setup.app.recorder.first(.failed)
                #expect(setup.error(of: failed) == .unknown)
                let id = try #require(
                    try await setup.store.client(account: "ada").unfinished().value.transactions
                        .first?.transaction.id
                )
                _ = try await setup.store.administrator.resume(id).value
                let purchased = try await setup.app.recorder.first(.purchased)
                #expect(purchased !== failed)
                #expect(failed.transactionState == .failed)
                #expect(try await setup.store.charged() == ["USD": 99])
                try await setup.queue.finish(failed)
                try await setup.queue.finish(purchased)
            }
        }
    }
}

/// An observer and delegate that gives configured answers and records the questions.
private final class App: SKPaymentTransactionObserver, SKPaymentQueueDelegate, Sendable {
    struct State {
        var goesOn = true
        var addsStorePayments = false
        var storefrontsAsked: [String] = []
        var storefrontChanges = 0
        var storePayments: [SKPayment] = []
    }

    let state = Mutex(State())
    let recorder = RecordingObserver()

    func paymentQueue(
        _ queue: SKPaymentQueue,
        updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        recorder.paymentQueue(queue, updatedTransactions: transactions)
    }

    func paymentQueueDidChangeStorefront(_ queue: SKPaymentQueue) {
        state.withLock { $0.storefrontChanges += 1 }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        shouldAddStorePayment payment: SKPayment,
        for product: SKProduct
    ) -> Bool {
        state.withLock { state in
            state.storePayments.append(payment)
            return state.addsStorePayments
        }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        shouldContinue transaction: SKPaymentTransaction,
        in newStorefront: SKStorefront
    ) -> Bool {
        state.withLock { state in
            state.storefrontsAsked.append(newStorefront.countryCode)
            return state.goesOn
        }
    }
}

extension StoreHarness {
    /// Returns the processor's charges by currency.
    fileprivate func charged() async throws -> [String: Int64] {
        try await reconcile().transactions?.flatMap(\.charges)
            .reduce(into: [:]) { sums, charge in
                sums[charge.amount.currency.rawValue, default: 0] += charge.amount.minorUnits
            } ?? [:]
    }
}

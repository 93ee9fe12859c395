import EventTypes
import Foundation
import PaymentQueue
import StoreAPI
import Synchronization
import TestSupport
import Testing

extension EndToEnd.PaymentQueues {
    /// Payment methods that subscribers choose in the app, on a store whose clock stands.
    @Suite(.serialized)
    struct Cards {
        @Test func whatIsOwedIsPaidByTheCardThatTheSubscriberChooses() async throws {
            try await withStore { store in
                let client = try store.client(account: "ada")
                // A card that is saved later would pay what is owed by itself.
                let working = try await client.payingMethod().rawValue
                let observer = try await subscribe(in: store)
                _ = try await store.advanceClock("32d", from: try await store.readClock().now)
                _ = try await client.expect(.inBillingRetryPeriod)
                let status = try #require(try await SubscriptionStatus.all().first?.statuses.first)
                let unknown = await #expect(throws: SKError.self) {
                    try await status.changePaymentMethod(to: "nobodys")
                }
                #expect(unknown?.storeCode == "payment_method_unknown")
                try await status.changePaymentMethod(to: working)
                let renewal = try await eventually("the renewal to be in the queue") {
                    observer.transactions(.purchased).first { $0.original != nil }
                }
                try await renewal.finish()
                try await observer.removed(renewal)
                _ = try await client.expect(.active)
                // The card pays from then on.
                _ = try await store.advanceClock("32d", from: try await store.readClock().now)
                let next = try await eventually("the next renewal to be in the queue") {
                    observer.transactions(.purchased).first {
                        $0.original != nil
                            && $0.transactionIdentifier != renewal.transactionIdentifier
                    }
                }
                try await next.finish()
                SKPaymentQueue.default().remove(observer)
                let audit = try await store.reconcile(within: .seconds(60))
                #expect(audit.differences == [])
            }
        }

        @Test func aBuyerWhoTriesTooOftenIsRefusedAndToldSo() async throws {
            try await withStore { store in
                let client = try store.client(account: "ada")
                // A card that is saved later would be tried by itself.
                let declined = try await client.payingMethod(like: .decline).rawValue
                let observer = try await subscribe(in: store)
                _ = try await store.advanceClock("32d", from: try await store.readClock().now)
                _ = try await client.expect(.inBillingRetryPeriod)
                let status = try #require(try await SubscriptionStatus.all().first?.statuses.first)
                for _ in 0..<5 {
                    try await status.changePaymentMethod(to: declined)
                    _ = try await client.expect(.inBillingRetryPeriod)
                }
                let refused = await #expect(throws: SKError.self) {
                    try await status.changePaymentMethod(to: declined)
                }
                #expect(refused?.storeCode == "too_many_tries")
                SKPaymentQueue.default().remove(observer)
            }
        }

        @Test func whatIsOwedIsConfirmedOnTheBanksPage() async throws {
            let settings = [StoreService.payments: ["ACTION_EXPIRY_MS": "120000"]]
            try await withStore(.with(settings: settings)) { store in
                let client = try store.client(account: "ada")
                let opened = Mutex(0)
                let observer = try await subscribe(in: store, paying: .needsAction) { url in
                    opened.withLock { $0 += 1 }
                    // An answer that is lost leaves the charge waiting, and the test says so.
                    _ = try? await client.decide(.complete, onPageAt: url)
                }
                _ = try await store.advanceClock("32d", from: try await store.readClock().now)
                let owed = try await client.expect(.inBillingRetryPeriod)
                #expect(owed.renewalProblem == .buyerMustAct)
                let status = try #require(try await SubscriptionStatus.all().first?.statuses.first)
                let method = try await client.payingMethod(like: .needsAction).rawValue
                try await status.changePaymentMethod(to: method)
                let renewal = try await eventually("the renewal to be in the queue") {
                    observer.transactions(.purchased).first { $0.original != nil }
                }
                try await renewal.finish()
                try await observer.removed(renewal)
                _ = try await client.expect(.active)
                // The purchase had a page as well.
                #expect(opened.withLock { $0 } == 2)
                SKPaymentQueue.default().remove(observer)
                let audit = try await store.reconcile(within: .seconds(60))
                #expect(audit.differences == [])
            }
        }

        /// Launches an app that buys the club, whose renewals are not paid.
        private func subscribe(
            in store: StoreHarness,
            paying method: SandboxPaymentMethod = .renewalDeclined,
            opening open: (@Sendable (URL) async -> Void)? = nil
        ) async throws -> RecordingObserver {
            try await store.importSampleCatalog()
            try await store.waitUntilSellable(SampleCatalog.club)
            _ = try await store.setClock(Routes.adminClockFreeze)
            var configuration = try EndToEnd.PaymentQueues.configuration(of: store, paying: method)
            configuration.buyerActionPage = open
            SKPaymentQueue.configure(configuration)
            let observer = RecordingObserver()
            let queue = SKPaymentQueue.default()
            queue.add(observer)
            let response = try await queue.products(for: [SampleCatalog.club.rawValue])
            queue.add(SKPayment(product: try #require(response.products.first)))
            let bought = try await observer.first(.purchased)
            try await bought.finish()
            try await observer.removed(bought)
            return observer
        }
    }
}

extension StoreClient {
    /// Waits until the account's subscription is in a state and no charge for it is under way.
    fileprivate func expect(_ state: SubscriptionState) async throws -> Subscription {
        try await eventually("a subscription that is \(state)") {
            let known = try await self.subscriptions().valueIfAny?.subscriptions.first
            return known.flatMap { $0.state == state && $0.charge == nil ? $0 : nil }
        }
    }
}

import EventTypes
import Foundation
import PaymentQueue
import StoreAPI
import Synchronization
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// Higher prices of subscriptions in the client library (spec rules 106 to 108).
    @Suite(.serialized)
    struct PriceIncreases {
        private static let club = SampleCatalog.club
        private static let observer = RecordingObserver()

        /// A store in which ada's club was raised from 2.99 USD.
        ///
        /// She is asked or told seven days before her period ends.
        private func withRaise(
            to price: Int64 = 1299,
            _ body: (StoreHarness, TransactionID) async throws -> Void
        ) async throws {
            let settings = [StoreService.payments: ["PRICE_NOTICE_DAYS": "7"]]
            try await withStore(.with(settings: settings)) { store in
                let id = try await store.subscribe().transactionID
                var draft = SampleCatalog.subscription(Self.club)
                draft.prices = draft.prices.mapValues { _ in SampleCatalog.usd(price) }
                _ = try await store.administrator.put(draft, as: Self.club)
                // payments refuses the raise until it has learnt the new price.
                let raised = try await eventually("the raise") {
                    try await store.administrator
                        .raise(id, of: Self.club, to: SampleCatalog.usd(price)).valueIfAny
                }
                #expect(raised.subscription.priceIncrease?.status == .scheduled)
                try await body(store, id)
                SKPaymentQueue.default().remove(Self.observer)
            }
        }

        /// Launches the app, whose subscriber answers the sheet.
        private func launch(_ store: StoreHarness, _ subscriber: Subscriber) throws {
            var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
            configuration.priceConsentSheet = { subscriber.show($0) }
            SKPaymentQueue.configure(configuration)
            SKPaymentQueue.default().delegate = subscriber
            SKPaymentQueue.default().add(Self.observer)
        }

        private func subscription(in store: StoreHarness) async throws -> Subscription {
            let client = try store.client(account: "ada")
            return try #require(try await client.subscriptions().value.subscriptions.first)
        }

        private func advance(_ store: StoreHarness, by span: String) async throws {
            _ = try await store.advanceClock(span, from: try await store.readClock().now)
        }

        @Test(arguments: [true, false])
        func aPriceIncreaseIsShownWhenTheDelegateSaysSo(showsAtOnce: Bool) async throws {
            try await withRaise { store, _ in
                let subscriber = Subscriber(answer: true, showsAtOnce: showsAtOnce)
                try launch(store, subscriber)
                try await advance(store, by: "25d")
                try await eventually("the delegate to be asked") {
                    subscriber.asked == 1 ? true : nil
                }
                if !showsAtOnce {
                    #expect(subscriber.shown.isEmpty)
                    SKPaymentQueue.default().showPriceConsentIfNeeded()
                }
                try await eventually("the consent to arrive") {
                    try await subscription(in: store).priceIncrease?.status == .agreed
                        ? true : nil
                }
                try await advance(store, by: "10d")
                let renewed = try await subscription(in: store)
                #expect(renewed.state == .active && renewed.period.reason == .renewal)
                #expect(renewed.period.price == SampleCatalog.usd(1299))
                #expect(subscriber.shown == [Decimal(string: "12.99")])
                #expect(subscriber.asked == 1)
            }
        }

        /// The question comes while the app is closed, and is shown at the next launch.
        @Test(arguments: [false, nil] as [Bool?])
        func withoutConsentTheSubscriptionEndsWithItsPeriod(answer: Bool?) async throws {
            try await withRaise { store, id in
                try await advance(store, by: "25d")
                let subscriber = Subscriber(answer: answer, showsAtOnce: true)
                try launch(store, subscriber)
                let expected: PriceIncreaseStatus = answer == nil ? .pending : .declined
                try await eventually("the sheet and its answer") { () -> Bool? in
                    guard subscriber.shown == [Decimal(string: "12.99")] else { return nil }
                    let status = try await subscription(in: store).priceIncrease?.status
                    return status == expected ? true : nil
                }
                try await advance(store, by: "10d")
                let over = try await subscription(in: store)
                #expect(over.state == .expired)
                #expect(over.expirationIntent == .didNotConsentToPriceIncrease)
                #expect(over.period.transactionID == id)
            }
        }

        @Test func aRaiseWithoutConsentIsAnUpdateAndNoQuestion() async throws {
            try await withRaise(to: 349) { store, _ in
                let subscriber = Subscriber(answer: nil, showsAtOnce: true)
                try launch(store, subscriber)
                var updates = SubscriptionStatus.updates.makeAsyncIterator()
                try await advance(store, by: "25d")
                var told: SubscriptionStatus?
                while told?.renewalInfo.unsafePayloadValue.priceIncreaseStatus != .agreed {
                    told = await updates.next()
                }
                let info = try #require(told?.renewalInfo.unsafePayloadValue)
                #expect(info.renewalPrice == Decimal(string: "3.49"))
                #expect(try await subscription(in: store).priceIncrease?.status == .notified)
                try await advance(store, by: "10d")
                let renewed = try await subscription(in: store)
                #expect(renewed.state == .active && renewed.period.reason == .renewal)
                #expect(renewed.period.price == SampleCatalog.usd(349))
                #expect(subscriber.asked == 0 && subscriber.shown.isEmpty)
            }
        }
    }
}

/// A subscriber with an app, whose delegate delays the sheet or does not.
private final class Subscriber: SKPaymentQueueDelegate, Sendable {
    private struct State {
        var asked = 0
        var shown: [Decimal?] = []
    }

    private let answer: Bool?
    private let showsAtOnce: Bool
    private let state = Mutex(State())

    init(answer: Bool?, showsAtOnce: Bool) {
        self.answer = answer
        self.showsAtOnce = showsAtOnce
    }

    /// The number of times that the delegate was asked.
    var asked: Int { state.withLock { $0.asked } }
    /// The prices that were shown.
    var shown: [Decimal?] { state.withLock { $0.shown } }

    func show(_ increase: SKPriceIncrease) -> Bool? {
        state.withLock { $0.shown.append(increase.price) }
        return answer
    }

    func paymentQueueShouldShowPriceConsent(_ queue: SKPaymentQueue) -> Bool {
        state.withLock { $0.asked += 1 }
        return showsAtOnce
    }
}

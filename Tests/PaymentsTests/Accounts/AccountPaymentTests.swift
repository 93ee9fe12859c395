import EventTypes
import Postgres
import ServiceKit
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// The effect of an account's standing on its payments (spec rules 1, 2, 8, 9, 116).
@Suite(.timeLimit(.minutes(10))) struct AccountPaymentTests {
    @Test func aBlockedAccountPaysNothingUntilItIsAllowed() async throws {
        try await withStore { store in
            try await store.say(canMakePayments: false)
            let counts = try await store.accountCounts()
            await #expect(throws: PaymentRefusal.paymentsNotAllowed) {
                try await store.add(request(), key: "a")
            }
            #expect(try await store.accountCounts() == counts)
            try await store.add(request(), key: "b", of: bob)
            try await store.say(canMakePayments: true)
            #expect(try await store.buy(request(), key: "a").state == .purchased)
        }
    }

    @Test func whatWasAcceptedBeforeIsAnsweredTheSameAfterABlock() async throws {
        try await withStore { store in
            let first = try await store.add(request(), key: "a")
            try await store.say(canMakePayments: false, storefront: "FRA")
            #expect(try await store.add(request(), key: "a") == first)
        }
    }

    @Test func onlyTheAccountsOwnStorefrontIsSoldIn() async throws {
        try await withStore { store in
            let france = Storefront(unchecked: "FRA")
            try await store.say(storefront: "FRA")
            let counts = try await store.accountCounts()
            await #expect(throws: PaymentRefusal.storefrontChanged(current: france)) {
                try await store.add(request(), key: "a")
            }
            #expect(try await store.accountCounts() == counts)
            try await store.say(storefront: "USA")
            #expect(try await store.buy(request(), key: "a").state == .purchased)
        }
    }

    @Test func anIntentEndsWithItsPaymentAndTheAccountTellsOfIt() async throws {
        try await withStore { store in
            let intent = try await store.begin(quantity: 2)
            let other = try await store.begin()
            let paid = try await store.add(request(quantity: 2, intent: intent.id), key: "a")
            #expect(try await store.account().purchaseIntents == [other])
            let events = try await store.accountEvents()
            #expect(events.map(\.version) == [1, 2, 3])
            #expect(events.last?.purchaseIntents == [other])
            // A repeated request under the key is the same payment, and no other payment pays the
            // intent.
            #expect(try await store.add(request(quantity: 2, intent: intent.id), key: "a") == paid)
            await #expect(throws: PaymentRefusal.purchaseIntentUnknown) {
                try await store.add(request(quantity: 2, intent: intent.id), key: "b")
            }
            #expect(try await store.account().version == 3)
        }
    }

    @Test func aPaymentThatIsRefusedLeavesItsIntentOpen() async throws {
        try await withStore { store in
            let intent = try await store.begin()
            await #expect(throws: PaymentRefusal.stalePrice(current: usd(999))) {
                try await store.add(request(price: usd(1), intent: intent.id), key: "a")
            }
            #expect(try await store.account().purchaseIntents == [intent])
            try await store.add(request(intent: intent.id), key: "a")
        }
    }

    @Test func nobodyPaysAnothersIntent() async throws {
        try await withStore { store in
            let intent = try await store.begin()
            try await store.begin(for: bob)
            await #expect(throws: PaymentRefusal.purchaseIntentUnknown) {
                try await store.add(request(intent: intent.id), key: "a", of: bob)
            }
        }
    }

    @Test func withinABatchAnIntentIsPaidOnce() async throws {
        try await withStore { store in
            let intent = try await store.begin()
            let replies = try await store.payments.accept(
                ["a", "b", "a"].map {
                    PaymentSubmission(
                        account: alice,
                        idempotencyKey: $0,
                        request: request(intent: intent.id)
                    )
                }
            )
            let first = try store.transaction(in: replies[0])
            #expect(try store.transaction(in: replies[2]) == first)
            #expect(throws: PaymentRefusal.purchaseIntentUnknown) {
                try store.transaction(in: replies[1])
            }
            #expect(try await store.count("transactions") == 1)
            #expect(try await store.account().version == 2)
        }
    }

    @Test func aRepetitionMeetingItsFirstRequestFindsTheKey() async throws {
        try await withStore(poolSize: 4) { store in
            let intent = try await store.begin()
            let (held, isHeld) = AsyncStream<Void>.makeStream()
            async let released: Void = store.holdAccount(untilWaiting: 2) { isHeld.finish() }
            for await _ in held {}
            async let first = store.add(request(intent: intent.id), key: "a")
            async let again = store.add(request(intent: intent.id), key: "a")
            let answers = try await [first, again]
            try await released
            #expect(answers[0] == answers[1])
            #expect(try await store.count("transactions") == 1)
        }
    }

    @Test func ofPaymentsAtOnceOnePaysTheIntent() async throws {
        try await withStore { store in
            let intent = try await store.begin()
            let paid = try await withThrowingTaskGroup(of: TransactionID?.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        do {
                            return try await store.add(
                                request(intent: intent.id),
                                key: "k\(number % 8)"
                            ).id
                        } catch PaymentRefusal.purchaseIntentUnknown {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let ids = paid.compactMap { $0 }
            #expect(Set(ids).count == 1)
            // A request under the key that has paid gets the same answer.
            #expect(ids.count == 5)
            #expect(try await store.count("transactions") == 1)
            #expect(try await store.account().version == 2)
        }
    }
}

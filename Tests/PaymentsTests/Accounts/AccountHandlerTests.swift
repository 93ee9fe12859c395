import EventTypes
import Postgres
import ServiceKit
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// What is said of an account, and its events.
@Suite(.timeLimit(.minutes(2))) struct AccountHandlerTests {
    let weekly = product("weekly", .autoRenewableSubscription)

    @Test func anAccountOfWhichNothingWasSaidMayPayAnywhere() async throws {
        try await withStore { store in
            let account = try await store.account()
            #expect(account == Account(accountID: alice.accountID, bundleID: alice.bundleID))
            #expect(account.version == 0 && account.canMakePayments)
            #expect(try await store.count("accounts") == 0)
        }
    }

    @Test func eachChangeIsAVersionAndAnEvent() async throws {
        try await withStore { store in
            try await store.say(canMakePayments: false)
            try await store.say(storefront: "FRA")
            let account = try await store.account()
            #expect(account.version == 2)
            #expect(!account.canMakePayments && account.storefront?.rawValue == "FRA")
            let events = try await store.accountEvents()
            #expect(events.map(\.version) == [1, 2])
            #expect(events.last == account)
            #expect(events.first?.storefront == nil)
        }
    }

    @Test func theSameChangeAgainIsNone() async throws {
        try await withStore { store in
            let first = try await store.say(canMakePayments: false)
            #expect(try await store.say(canMakePayments: false) == first)
            #expect(try await store.accountEvents().count == 1)
        }
    }

    @Test func accountsAreApartByBuyerAndByApp() async throws {
        try await withStore { store in
            try await store.say(canMakePayments: false)
            #expect(try await store.account(bob).canMakePayments)
            let elsewhere = AccountKey(
                accountID: alice.accountID,
                bundleID: BundleID(unchecked: "com.example.other")
            )
            #expect(try await store.accounts.account(elsewhere).canMakePayments)
        }
    }

    @Test func changesAtOnceAreVersionsInCommitOrder() async throws {
        try await withStore { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask { try await store.begin(key: "k\(number % 10)") }
                }
                try await group.waitForAll()
            }
            let events = try await store.accountEvents()
            #expect(events.map(\.version) == Array(1...10))
            #expect(events.map(\.purchaseIntents.count) == Array(1...10))
        }
    }

    @Test func aPurchaseIsBegunOnceUnderItsKey() async throws {
        try await withStore { store in
            let first = try await store.begin(quantity: 2, key: "a")
            #expect(try await store.begin(quantity: 2, key: "a") == first)
            #expect(try await store.account().purchaseIntents == [first])
            await #expect(throws: AccountRefusal.payment(.idempotencyKeyReused)) {
                try await store.begin(quantity: 3, key: "a")
            }
            // Without a key each is one of its own.
            try await store.begin(quantity: 2)
            #expect(try await store.account().purchaseIntents.count == 2)
            // The key names what it began also after that has ended.
            _ = try await store.accounts.decline(first.id, by: alice.accountKey).get()
            #expect(try await store.begin(quantity: 2, key: "a") == first)
        }
    }

    @Test func openIntentsAreBoundedAndARefusalChangesNothing() async throws {
        try await withStore { store in
            for _ in 0..<AccountRules.purchaseIntentsMax { try await store.begin() }
            let counts = try await store.accountCounts()
            let account = try await store.account()
            await #expect(
                throws: AccountRefusal.tooManyPurchaseIntents(max: AccountRules.purchaseIntentsMax)
            ) { try await store.begin() }
            await #expect(throws: AccountRefusal.payment(.productUnknown)) {
                try await store.begin("nothing")
            }
            #expect(try await store.accountCounts() == counts)
            #expect(try await store.account() == account)
        }
    }

    @Test func aPaymentOfAnIntentIsAnsweredAgainByteForByte() async throws {
        try await withStore { store in
            let intent = try await store.begin()
            let submission = PaymentSubmission(
                account: alice,
                idempotencyKey: "a",
                request: request(intent: intent.id)
            )
            let replies = try await [
                store.payments.accept([submission])[0], store.payments.accept([submission])[0],
            ]
            let bodies = replies.compactMap { reply -> [UInt8]? in
                guard case .accepted(let body, _) = reply else { return nil }
                return body
            }
            #expect(bodies.count == 2 && bodies[0] == bodies[1])
        }
    }

    @Test func aDeclinedIntentIsGoneForGood() async throws {
        try await withStore { store in
            let intent = try await store.begin()
            for _ in 0..<2 {
                let account = try await store.accounts.decline(intent.id, by: alice.accountKey)
                    .get()
                #expect(account.purchaseIntents.isEmpty && account.version == 2)
            }
            #expect(try await store.accountEvents().count == 2)
            await #expect(throws: PaymentRefusal.purchaseIntentUnknown) {
                try await store.add(request(intent: intent.id), key: "a")
            }
        }
    }

    @Test func nobodyDeclinesOrAnswersForAnother() async throws {
        try await withStore { store in
            try await store.sell(weekly)
            let intent = try await store.begin()
            let consent = try await store.ask(usd(1099))
            await #expect(throws: AccountRefusal.purchaseIntentUnknown) {
                try await store.accounts.decline(intent.id, by: bob.accountKey).get()
            }
            await #expect(throws: AccountRefusal.priceConsentUnknown) {
                try await store.accounts.decide(.agree, on: consent.id, by: bob.accountKey).get()
            }
            #expect(try await store.account().purchaseIntents == [intent])
            #expect(try await store.account().priceConsents == [consent])
            // Somebody of whom nothing was said leaves no row by asking.
            #expect(try await store.count("accounts") == 1)
        }
    }

    @Test func aSubscribersFirstWordOnAPriceCounts() async throws {
        try await withStore { store in
            try await store.sell(weekly)
            let consent = try await store.ask(usd(1099))
            #expect(try await store.ask(usd(1099)) == consent)
            #expect(try await store.account().version == 1)
            for _ in 0..<2 {
                let account = try await store.accounts.decide(
                    .agree,
                    on: consent.id,
                    by: alice.accountKey
                ).get()
                #expect(account.priceConsents.map(\.status) == [.agreed])
                #expect(account.version == 2)
            }
            await #expect(throws: AccountRefusal.decidedOtherwise) {
                try await store.accounts.decide(.decline, on: consent.id, by: alice.accountKey)
                    .get()
            }
            // What was agreed is not asked again.
            #expect(try await store.ask(usd(1099)).status == .agreed)
            #expect(try await store.accountEvents().map(\.version) == [1, 2])
        }
    }

    @Test func anotherPriceIsAnotherQuestionAndTheOldOneIsClosed() async throws {
        try await withStore { store in
            try await store.sell(weekly)
            let first = try await store.ask(usd(1099))
            let second = try await store.ask(usd(1199))
            #expect(second.id != first.id)
            #expect(try await store.account().priceConsents == [second])
            await #expect(throws: AccountRefusal.priceConsentReplaced) {
                try await store.accounts.decide(.agree, on: first.id, by: alice.accountKey).get()
            }
            #expect(try await store.count("price_consents") == 2)
        }
    }
}

/// How an account's state bears on its payments (spec rules 1, 2, 8, 9, 116).
@Suite(.timeLimit(.minutes(2))) struct AccountPaymentTests {
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
            // Asked again under the key it is the same payment, and no other one pays the intent.
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

    @Test func aRepetitionThatMeetsItsFirstRequestFindsTheKeyAndNotAnIntentThatIsGone() async throws
    {
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
            // Whoever asks under the key that has paid is answered the same.
            #expect(ids.count == 5)
            #expect(try await store.count("transactions") == 1)
            #expect(try await store.account().version == 2)
        }
    }
}

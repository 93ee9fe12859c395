import EventTypes
import Postgres
import ServiceKit
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Requests about accounts, and their events.
@Suite(.timeLimit(.minutes(10))) struct AccountHandlerTests {
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

    @Test func anAdministratorsChangeSaysWhoMadeIt() async throws {
        try await withStore { store in
            // What was begun outside the app is no decision about the account.
            try await store.begin()
            try await store.say(canMakePayments: false)
            let names = try await store.accountChanges().map { $0.act.map { "\($0.decidedBy)" } }
            #expect(names == [nil, "mia"])
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
            // Without a key, each request begins a new intent.
            try await store.begin(quantity: 2)
            #expect(try await store.account().purchaseIntents.count == 2)
            // The key still names its intent after the intent has ended.
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

    @Test func whatIsRefusedOrChangesNothingLeavesNoAccount() async throws {
        try await withStore { store in
            await #expect(throws: AccountRefusal.payment(.productUnknown)) {
                try await store.begin("nothing")
            }
            await #expect(throws: AccountRefusal.changeEmpty) { try await store.say() }
            // An account may pay unless an administrator has said otherwise.
            let account = try await store.say(canMakePayments: true)
            #expect(account.version == 0)
            #expect(try await store.count("accounts") == 0)
            #expect(try await store.accountEvents().isEmpty)
            #expect(try await store.say(canMakePayments: false).version == 1)
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

    @Test func nobodyDeclinesForAnother() async throws {
        try await withStore { store in
            let intent = try await store.begin()
            await #expect(throws: AccountRefusal.purchaseIntentUnknown) {
                try await store.accounts.decline(intent.id, by: bob.accountKey).get()
            }
            #expect(try await store.account().purchaseIntents == [intent])
            // A refused request of an unknown account makes no row.
            #expect(try await store.count("accounts") == 1)
        }
    }
}

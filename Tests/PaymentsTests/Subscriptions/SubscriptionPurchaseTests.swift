import EventTypes
import Ledger
import StoreAPI
import StoreTracing
import TestSupport
import Testing

@testable import Payments

/// Purchases of subscriptions.
@Suite struct SubscriptionPurchaseTests {
    @Test func aPurchaseBeginsASubscription() async throws {
        try await withStore { store in
            try await store.sell(club())
            let bought = try await store.buy(request("club", price: usd(299)), key: "1")
            let period = try #require(bought.subscription)
            #expect(bought.state == .purchased && bought.reason == .purchase)
            #expect(period.start == startTime && bought.originalPurchasedAt == startTime)
            #expect(period.end == startTime.advanced(by: .seconds(31 * 86_400)))
            let subscription = try await store.subscription()
            #expect(subscription.id == bought.id && subscription.state == .active)
            #expect(subscription.period.end == period.end)
            let types = try await store.eventTypes(of: bought.id)
            #expect(
                types == [
                    "transaction.purchasing.v1", "transaction.purchased.v1",
                    "subscription.changed.v1",
                ]
            )
            let change = try #require(try await store.subscriptionChanges().first)
            #expect(change.cause == .purchased && change.transactionID == bought.id)
            #expect(change.posting != nil && change.subscription == subscription)
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func theRunningProductIsNotBoughtAgain() async throws {
        try await withStore { store in
            try await store.sell(club(), club("lower", level: 2))
            try await store.buy(request("club", price: usd(299)), key: "1")
            let before = try await store.counts()
            for product in ["club", "lower"] {
                await #expect(throws: PaymentRefusal.alreadySubscribed(to: club().id)) {
                    try await store.add(request(product, price: usd(299)), key: product)
                }
            }
            #expect(try await store.counts() == before)
        }
    }

    @Test func aSubscriptionIsSoldOnce() async throws {
        try await withStore { store in
            try await store.sell(club())
            await #expect(throws: PaymentRefusal.quantityOutOfRange(max: 1)) {
                try await store.add(request("club", quantity: 2, price: usd(299)), key: "1")
            }
        }
    }

    @Test func ofTwoPurchasesAtOnceOneIsGivenBack() async throws {
        try await withStore { store in
            try await store.sell(club())
            let first = try await store.add(request("club", price: usd(299)), key: "1")
            let second = try await store.add(request("club", price: usd(299)), key: "2")
            try await store.settle()
            let states = [try await store.load(first.id), try await store.load(second.id)]
            #expect(states.map(\.state) == [.purchased, .failed])
            #expect(states[1].failureReason == .subscriptionChanged)
            let postings = try await store.postings(of: second.id)
            #expect(postings == [.strayCharge, .strayChargeReturn])
            #expect(try await store.subscription().id == first.id)
            #expect(try await store.subscriptionChanges().count == 1)
            #expect(try await store.booksBalance())
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func aFailedPurchaseBeginsNothing() async throws {
        try await withStore { store in
            try await store.sell(club())
            let failed = try await store.buy(
                request("club", price: usd(299), method: .decline),
                key: "1"
            )
            #expect(failed.state == .failed)
            #expect(try await store.subscriptionRow()?.subscription == nil)
            #expect(try await store.subscriptionChanges() == [])
        }
    }

    @Test func anUpgradeRefundsTheUnusedPart() async throws {
        try await withStore { store in
            try await store.sell(club("silver", level: 2, price: usd(310)), club("gold"))
            let silver = try await store.buy(request("silver", price: usd(310)), key: "1")
            store.clock.advance(by: .seconds(21 * 86_400))
            let gold = try await store.buy(request("gold", price: usd(299)), key: "2")
            #expect(gold.state == .purchased && gold.originalID == silver.id)
            #expect(gold.subscription?.replaces == club("silver").id)
            let refunded = try await store.load(silver.id)
            #expect(refunded.refunds?.map(\.amount) == [usd(100)])
            #expect(refunded.revokedAt == nil)
            let changes = try await store.subscriptionChanges()
            #expect(changes.map(\.cause) == [.purchased, .upgraded])
            #expect(try await store.booksBalance())
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func anUpgradeThatCostsNothingRefundsTheUnusedPart() async throws {
        try await withStore { store in
            try await store.sell(
                club("silver", level: 2, price: usd(310)),
                club("gold", price: usd(0))
            )
            let silver = try await store.buy(request("silver", price: usd(310)), key: "1")
            store.clock.advance(by: .seconds(21 * 86_400))
            let gold = try await store.buy(request("gold", price: usd(0)), key: "2")
            #expect(gold.state == .purchased && gold.originalID == silver.id)
            try await store.settle()
            let refunded = try await store.load(silver.id)
            #expect(refunded.refunds?.map(\.amount) == [usd(100)])
            #expect(try await store.booksBalance())
            #expect(try await store.auditFindings() == [])
        }
    }

    /// S103: the clock of a sandbox often stands between two purchases.
    @Test func anUpgradeAtOnceRefundsAllAndRevokesNothing() async throws {
        try await withStore { store in
            try await store.sell(club("silver", level: 2), club("gold", price: usd(999)))
            let silver = try await store.buy(request("silver", price: usd(299)), key: "1")
            try await store.buy(request("gold", price: usd(999)), key: "2")
            let upgraded = try await store.load(silver.id)
            #expect(upgraded.refunds?.map(\.amount) == [usd(299)])
            #expect(upgraded.refunds?.map(\.revokes) == [false] && upgraded.revokedAt == nil)
            #expect(try await store.subscription().product.id.rawValue == "gold")
            #expect(try await store.booksBalance())
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func aRefundOfTheRunningPeriodEndsTheSubscription() async throws {
        try await withStore { store in
            try await store.sell(club())
            let bought = try await store.buy(request("club", price: usd(299)), key: "1")
            _ = try await store.refunds.refund(bought.id, trace: .begin())
            let subscription = try await store.subscription()
            #expect(subscription.state == .revoked && !subscription.isAutoRenewOn)
            _ = try await store.refunds.reverseRefund(1, of: bought.id, by: nil, trace: .begin())
            #expect(try await store.subscription().state == .active)
            let changes = try await store.subscriptionChanges()
            #expect(changes.map(\.cause) == [.purchased, .refunded, .refundReversed])
        }
    }

    @Test func aFreeSubscriptionIsNeverCharged() async throws {
        try await withStore { store in
            try await store.sell(club(price: usd(0)))
            let bought = try await store.buy(request("club", price: usd(0)), key: "1")
            #expect(bought.state == .purchased && bought.subscription?.start == startTime)
            try await store.advance(days: 31)
            let all = try await store.transactions()
            #expect(all.map(\.state) == [.purchased, .purchased])
            #expect(all.map(\.reason) == [.purchase, .renewal])
            #expect(all[1].subscription?.start == all[0].subscription?.end)
            #expect(try await store.count("processor_attempts") == 0)
            #expect(try await store.auditFindings() == [])
        }
    }
}

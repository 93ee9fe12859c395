import EventTypes
import ServiceKit
import StoreAPI
import StoreTracing
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// Higher prices of running subscriptions, in the database (rules S120 to S127).
@Suite struct PriceIncreaseTests {
    /// Begins a subscription of 2.99 USD a month, whose price of the catalog then rises.
    private func withClub(
        raisedTo price: Money,
        _ body: @Sendable (Store, TransactionID) async throws -> Void
    ) async throws {
        try await withStore { store in
            try await store.sell(club())
            let id = try await store.buy(request("club", price: usd(299)), key: "1").id
            try await store.sell(club(price: price, version: 2))
            try await body(store, id)
        }
    }

    @discardableResult
    private func decide(
        _ decision: SubscriptionHandler.Decision,
        on id: TransactionID,
        in store: Store
    ) async throws -> SubscriptionHandler.Reply {
        try await store.subscriptions.decide(decision, on: id, trace: .begin())
    }

    @Test func whoAgreesRenewsAtTheNewPrice() async throws {
        try await withClub(raisedTo: usd(1299)) { store, id in
            let time = store.clock.now().advanced(by: .days(40))
            try await decide(.raise(club().id, to: usd(1299), from: time), on: id, in: store)
            try await decide(.raise(club().id, to: usd(1299), from: time), on: id, in: store)
            try await store.advance(days: 40)
            #expect(try await store.subscription().priceIncrease?.status == .pending)
            try await decide(.price(nil, isAgreed: true), on: id, in: store)
            try await decide(.price(nil, isAgreed: true), on: id, in: store)
            try await store.advance(days: 60)
            let prices = try await store.transactions().map(\.price)
            #expect(prices == [usd(299), usd(299), usd(1299), usd(1299)])
            let causes = try await store.subscriptionChanges().map(\.cause)
            #expect(
                causes == [
                    .purchased, .priceIncreaseScheduled, .renewed, .priceIncreaseAsked,
                    .priceIncreaseAgreed, .renewed, .renewed,
                ]
            )
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func whoDoesNotAnswerIsNotChargedAndLapses() async throws {
        try await withClub(raisedTo: usd(1299)) { store, id in
            try await decide(.ask(usd(1299)), on: id, in: store)
            try await store.advance(days: 40)
            let lapsed = try await store.subscription()
            #expect(lapsed.state == .expired)
            #expect(lapsed.expirationIntent == .didNotConsentToPriceIncrease)
            #expect(try await store.count("transactions") == 1)
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func aSmallIncreaseIsChargedAfterTheNotice() async throws {
        try await withClub(raisedTo: usd(349)) { store, id in
            try await decide(
                .raise(
                    club().id,
                    to: usd(349),
                    from: store.clock.now().advanced(by: .days(40))
                ),
                on: id,
                in: store
            )
            try await store.advance(days: 70)
            let prices = try await store.transactions().map(\.price)
            #expect(prices == [usd(299), usd(299), usd(349)])
            let causes = try await store.subscriptionChanges().map(\.cause)
            #expect(causes.contains(.priceIncreaseNotified))
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func anIncreaseWithoutATimeCountsFromTheRequest() async throws {
        try await withClub(raisedTo: usd(349)) { store, id in
            let time = store.clock.now()
            try await decide(.raise(club().id, to: usd(349), from: nil), on: id, in: store)
            store.clock.advance(by: .milliseconds(5))
            try await decide(.raise(club().id, to: usd(349), from: nil), on: id, in: store)
            let raised = try await store.subscription()
            #expect(raised.version == 2, "the same request changes nothing again")
            #expect(raised.priceIncrease.map { $0.effectiveAt >= time } == true)
        }
    }

    @Test func anIncreaseThatIsWithdrawnIsNeverCharged() async throws {
        try await withClub(raisedTo: usd(1299)) { store, id in
            try await decide(.ask(usd(1299)), on: id, in: store)
            try await decide(.price(nil, isAgreed: true), on: id, in: store)
            #expect(try await store.subscription().nextPrice == usd(1299))
            try await decide(.withdrawRaise, on: id, in: store)
            try await store.advance(days: 40)
            #expect(try await store.transactions().map(\.price) == [usd(299), usd(299)])
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func whatCannotBeAnsweredSaysWhy() async throws {
        try await withClub(raisedTo: usd(1299)) { store, id in
            let yes = SubscriptionHandler.Decision.price(nil, isAgreed: true)
            #expect(try await decide(yes, on: id, in: store) == .refused(.notAsked))
            #expect(try await decide(.ask(usd(299)), on: id, in: store) == .refused(.noIncrease))
            try await decide(.ask(usd(1299)), on: id, in: store)
            let other = SubscriptionHandler.Decision.price(
                PriceChangeID(unchecked: "another"),
                isAgreed: true
            )
            #expect(try await decide(other, on: id, in: store) == .refused(.questionReplaced))
            try await decide(.price(nil, isAgreed: false), on: id, in: store)
            #expect(try await decide(yes, on: id, in: store) == .refused(.answeredOtherwise))
        }
    }

    @Test func aRaiseIsOfTheNextProductAndNotAboveTheCatalog() async throws {
        try await withClub(raisedTo: usd(1299)) { store, id in
            let above = SubscriptionHandler.Decision.raise(club().id, to: usd(1300), from: nil)
            let isAbove = try await decide(above, on: id, in: store)
            #expect(isAbove == .refused(.aboveCatalog))
            let other = ProductID(unchecked: "other")
            let wrong = SubscriptionHandler.Decision.raise(other, to: usd(1299), from: nil)
            let isWrong = try await decide(wrong, on: id, in: store)
            #expect(isWrong == .refused(.otherProduct))
            let subscription = try await store.subscription()
            #expect(subscription.priceIncrease == nil)
        }
    }

    /// The clock stops at each notice, as at other work.
    @Test func aNoticeIsDueWork() async throws {
        try await withStore { store in
            let quarter = SubscriptionPeriod(3, .month)
            try await store.sell(club(period: quarter))
            let id = try await store.buy(request("club", price: usd(299)), key: "1").id
            try await store.sell(club(period: quarter, price: usd(1299), version: 2))
            let raise = SubscriptionHandler.Decision.raise(club().id, to: usd(1299), from: nil)
            try await decide(raise, on: id, in: store)
            #expect(try await Array(store.dueWork().keys) == [.priceNotices])
        }
    }
}

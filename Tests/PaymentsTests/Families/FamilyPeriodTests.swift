import EventTypes
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// Periods of subscriptions that a family shares.
@Suite(.timeLimit(.minutes(10))) struct FamilyPeriodTests {
    private func withClub(
        _ body: @Sendable (Store, Transaction) async throws -> Void
    ) async throws {
        try await withStore { store in
            var club = club(level: 2)
            club.isFamilyShareable = true
            try await store.sell(club)
            _ = try await store.family("alice", "bob")
            let bought = try await store.buy(request("club", price: usd(299)), key: "1")
            try await store.shareAll()
            try await body(store, bought)
        }
    }

    @Test func eachPeriodIsSharedWithItsDates() async throws {
        try await withClub { store, bought in
            let first = try #require(try await store.shares().first)
            #expect(first.sharedFrom == bought.id && first.reason == .familyShared)
            #expect(first.subscription?.start == bought.subscription?.start)
            #expect(first.subscription?.end == bought.subscription?.end)
            #expect(first.subscription?.paidBy == bought.id && first.price.isZero)
            try await store.advance(days: 31)
            try await store.shareAll()
            let shares = try await store.shares()
            #expect(shares.count == 2)
            #expect(shares.last?.subscription?.start == first.subscription?.end)
            // Nobody charges, renews or counts what is shared.
            #expect(try await store.count("subscriptions") == 1)
            #expect(try await store.count("sandbox_processor.charges") == 2)
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func aPeriodThatIsOverIsNeitherSharedNorTakenAway() async throws {
        try await withClub { store, bought in
            let share = try #require(try await store.shares().first)
            try await store.advance(days: 31)
            let family = try #require(
                try await store.families.family(
                    of: AccountKey(accountID: "alice", bundleID: alice.bundleID)
                )
            )
            _ = try await store.families.end(family.id, by: .nora, trace: .begin()).get()
            try await store.shareAll()
            #expect(try await store.load(share.id).revokedAt == nil)
            _ = try await store.family("alice", "cleo")
            try await store.shareAll()
            let shares = try await store.shares().filter { $0.accountID == "cleo" }
            #expect(shares.count == 1 && shares.first?.sharedFrom != bought.id)
        }
    }

    @Test func aMerchantCannotExtendWhatIsShared() async throws {
        try await withStore { store in
            var club = club(level: 2)
            club.isFamilyShareable = true
            try await store.sell(club)
            try await store.sellFilm()
            _ = try await store.family("alice", "bob")
            try await store.buy(request("club", price: usd(299)), key: "1")
            try await store.buy(request("film"), key: "2")
            try await store.shareAll()
            let refusals = try await store.shares().map {
                ServerExtensionRoutes.refusal(of: $0, in: alice.bundleID).code
            }
            #expect(refusals.sorted() == [4_030_004, 4_030_007])
        }
    }

    /// The member is not without it for a moment, so nothing is taken away.
    @Test func anExtendedPeriodIsSharedUntilItsNewEnd() async throws {
        try await withClub { store, bought in
            let share = try #require(try await store.shares().first)
            _ = try await store.subscriptions.extend(
                bought.id,
                by: RequestedExtension(id: "a", days: 3, reasonCode: 0),
                act: nil,
                trace: .begin()
            )
            try await store.shareAll()
            let shares = try await store.shares()
            let end = try await store.load(bought.id).subscription?.end
            #expect(share.subscription?.end != end)
            #expect(shares.map(\.id) == [share.id] && shares.map(\.version) == [share.version + 1])
            #expect(shares.map(\.subscription?.end) == [end])
            #expect(shares.map(\.subscription?.shared?.followed) == [.extended])
            let types = ["transaction.purchased.v1", "transaction.extended.v1"]
            #expect(try await store.eventTypes(of: share.id) == types)
            // Looking again makes nothing new.
            try await store.note("alice", "bob")
            try await store.shareAll()
            #expect(try await store.shares() == shares)
            #expect(try await store.eventTypes(of: share.id) == types)
        }
    }

    /// A look whose whole list is shares that cannot follow asks for no other look.
    @Test func aShareThatCannotFollowIsNotLookedAtForEver() async throws {
        try await withClub { store, bought in
            let share = try #require(try await store.shares().first)
            try await store.client.withTransaction { connection in
                _ = try connection.execute(
                    """
                    UPDATE transactions SET subscription = (subscription::jsonb - 'shared')::json
                    WHERE id = \(share.id.number)
                    """
                )
            }
            _ = try await store.subscriptions.extend(
                bought.id,
                by: RequestedExtension(id: "a", days: 3, reasonCode: 0),
                act: nil,
                trace: .begin()
            )
            let handler = FamilyShareHandler(context: store.context, didCommit: {}, limit: 1)
            var looks = 0
            while looks < 10, try await handler.carryOutNext() { looks += 1 }
            #expect((1..<10).contains(looks))
            #expect(try await store.load(share.id).version == share.version)
        }
    }

    @Test func allSharesOfASubscriptionHaveTheIdOfTheFirst() async throws {
        try await withClub { store, bought in
            let first = try #require(try await store.shares().first)
            #expect(first.originalID == first.id)
            try await store.advance(days: 31)
            try await store.shareAll()
            var gold = club("gold", level: 1, price: usd(599))
            gold.isFamilyShareable = true
            try await store.sell(gold)
            try await store.buy(request("gold", price: usd(599)), key: "2")
            try await store.settle()
            try await store.shareAll()
            let all = try await store.transactions().filter { $0.reason == .familyShared }
            #expect(all.count == 3 && all.allSatisfy { $0.originalID == first.id })
            #expect(all.allSatisfy { $0.originalPurchasedAt == first.originalPurchasedAt })
            let began = all.compactMap { $0.subscription?.shared?.began }
            #expect(began == [.purchased, .renewed, .upgraded])
            #expect(bought.originalID != first.id)
        }
    }

    @Test func aMemberWhoComesBackGoesOnWithTheSameId() async throws {
        try await withClub { store, _ in
            let first = try #require(try await store.shares().first)
            let account = AccountKey(accountID: "bob", bundleID: alice.bundleID)
            _ = try await store.families.leave(account, trace: .begin())
            try await store.shareAll()
            #expect(try await store.shares() == [])
            _ = try await store.family("alice", "bob")
            try await store.shareAll()
            let again = try #require(try await store.shares().first)
            #expect(again.id != first.id && again.originalID == first.id)
            #expect(again.subscription?.shared?.began == .resubscribed)
        }
    }

    @Test func aRefundTakesTheSharedPeriodAway() async throws {
        try await withClub { store, bought in
            let share = try #require(try await store.shares().first)
            _ = try await store.refunds.refund(bought.id)
            try await store.settle()
            try await store.shareAll()
            #expect(try await store.load(share.id).revokedAt != nil)
            #expect(try await store.shares() == [])
        }
    }

    @Test func aSubscriptionThatATestEndsIsSharedNoLonger() async throws {
        try await withClub { store, bought in
            let share = try #require(try await store.shares().first)
            let reply = try await store.subscriptions.decide(
                .end(.autoRenewDisabled),
                on: bought.id,
                trace: .begin()
            )
            guard case .done(let ended) = reply else {
                Issue.record("\(reply)")
                return
            }
            #expect(ended.state == .expired)
            try await store.shareAll()
            #expect(try await store.load(share.id).revokedAt != nil)
            #expect(try await store.shares() == [])
        }
    }

    @Test func anUpgradeTakesThePeriodItEndsAway() async throws {
        try await withClub { store, bought in
            let share = try #require(try await store.shares().first)
            var gold = club("gold", level: 1, price: usd(599))
            gold.isFamilyShareable = true
            try await store.sell(gold)
            try await store.buy(request("gold", price: usd(599)), key: "2")
            try await store.settle()
            try await store.shareAll()
            #expect(try await store.load(share.id).revokedAt != nil)
            #expect(try await store.shares().map(\.productID.rawValue) == ["gold"])
        }
    }

    @Test func anUpgradeToWhatIsNotSharedTakesTheServiceFromTheMember() async throws {
        try await withClub { store, _ in
            let share = try #require(try await store.shares().first)
            try await store.sell(club("gold", level: 1, price: usd(599)))
            try await store.buy(request("gold", price: usd(599)), key: "2")
            try await store.settle()
            try await store.shareAll()
            #expect(try await store.load(share.id).revokedAt != nil)
            #expect(try await store.shares() == [])
            try await store.advance(days: 31)
            try await store.shareAll()
            #expect(try await store.shares() == [])
            #expect(try await store.subscription().product.id.rawValue == "gold")
        }
    }

    /// Rule S45: what others pay for does not use up the member's own offer.
    @Test(arguments: [true, false])
    func aMemberHasAnIntroductoryOfferOfItsOwn(leavesBefore: Bool) async throws {
        try await withStore { store in
            var club = club(offer: freeWeek)
            club.isFamilyShareable = true
            try await store.sell(club)
            _ = try await store.family("alice", "bob")
            let trial = try await store.buy(request("club", price: usd(299)), key: "1")
            #expect(trial.subscription?.offer?.mode == .freeTrial)
            try await store.shareAll()
            let share = try #require(try await store.shares().first)
            #expect(share.accountID == "bob" && share.subscription?.offer == nil)
            if leavesBefore {
                let account = AccountKey(accountID: "bob", bundleID: bob.bundleID)
                _ = try await store.families.leave(account, trace: .begin())
                try await store.shareAll()
            }
            let own = try await store.buy(request("club", price: usd(299)), key: "2", of: bob)
            #expect(own.subscription?.offer?.mode == .freeTrial && own.price == usd(0))
        }
    }
}

import EventTypes
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// Periods that a family shares while their buyer is in a grace period, and what comes after it.
@Suite(.timeLimit(.minutes(10))) struct FamilyGraceTests {
    /// Shares a club whose first renewal is declined, until the end of its first period.
    private func withUnpaidClub(
        _ method: SandboxPaymentMethod = .renewalDeclined,
        hasGrace: Bool = true,
        _ body: @Sendable (Store, Transaction) async throws -> Void
    ) async throws {
        try await withStore { store in
            var club = club(level: 2)
            club.isFamilyShareable = true
            try await store.sell(club)
            var settings = TestSettingsDocument(bundleID: alice.bundleID)
            settings.hasGracePeriod = hasGrace
            let (key, wishes) = (
                AccountKey(accountID: alice.accountID, bundleID: alice.bundleID), settings
            )
            try await store.client.withTransaction {
                try TestSettingsStore.save([key: wishes], on: $0)
            }
            _ = try await store.family("alice", "bob")
            try await store.buy(request("club", price: usd(299), method: method), key: "1")
            try await store.shareAll()
            let share = try #require(try await store.shares().first)
            try await store.advance(days: 31)
            try await store.shareAll()
            try await body(store, share)
        }
    }

    private func standing(
        of share: Transaction,
        in store: Store
    ) async throws -> TransactionPeriod.Shared? {
        try await store.load(share.id).subscription?.shared
    }

    @Test func aMemberKeepsTheServiceInTheGracePeriodOfTheBuyer() async throws {
        try await withUnpaidClub { store, share in
            let subscription = try await store.subscription()
            #expect(subscription.state == .inGracePeriod)
            let shares = try await store.shares()
            #expect(shares.map(\.id) == [share.id] && shares.map(\.version) == [2])
            let period = try #require(shares.first?.subscription)
            #expect(period.end == share.subscription?.end)
            #expect(period.serviceEnd == subscription.gracePeriodEnd)
            #expect(period.serviceEnd != period.end)
            #expect(period.shared?.state == .inGracePeriod)
            #expect(period.shared?.followed == .gracePeriodBegan)
            // The audit of this test does not know the app's wish for a grace period.
            let findings = try await store.auditFindings()
            #expect(findings.map(\.invariant) == [.limitsAreKept])
        }
    }

    @Test func whoJoinsWhileTheBuyerOwesGetsNothingUntilItIsPaid() async throws {
        try await withUnpaidClub(.renewalRecovers, hasGrace: false) { store, _ in
            #expect(try await store.subscription().state == .inBillingRetryPeriod)
            let account = AccountKey(accountID: "bob", bundleID: alice.bundleID)
            _ = try await store.families.leave(account, trace: .begin())
            _ = try await store.family("alice", "cleo")
            try await store.shareAll()
            #expect(try await store.transactions().filter { $0.accountID == "cleo" } == [])
            try await store.advance(days: 1)
            try await store.shareAll()
            let subscription = try await store.subscription()
            #expect(subscription.state == .active)
            let shares = try await store.shares().filter { $0.accountID == "cleo" }
            #expect(shares.map(\.sharedFrom) == [subscription.period.transactionID])
        }
    }

    @Test func aGracePeriodThatIsNotPaidEndsForTheMemberToo() async throws {
        try await withUnpaidClub { store, share in
            try await store.advance(days: 17)
            try await store.shareAll()
            #expect(try await store.subscription().state == .inBillingRetryPeriod)
            let waiting = try await standing(of: share, in: store)
            #expect(waiting?.state == .inBillingRetryPeriod && waiting?.gracePeriodEnd == nil)
            #expect(waiting?.followed == .gracePeriodEnded)
            try await store.advance(days: 60)
            try await store.shareAll()
            let ended = try await standing(of: share, in: store)
            #expect(ended?.state == .expired && ended?.followed == .billingRetryEnded)
            let types = try await store.eventTypes(of: share.id)
            #expect(types.filter { $0 == "transaction.extended.v1" }.count == 3)
            #expect(try await store.load(share.id).revokedAt == nil)
        }
    }

    @Test func theNextShareFollowsWithoutAGapIfTheBuyerPaysInTheGracePeriod() async throws {
        try await withUnpaidClub(.renewalRecovers) { store, share in
            #expect(try await standing(of: share, in: store)?.state == .inGracePeriod)
            try await store.advance(days: 1)
            try await store.shareAll()
            #expect(try await store.subscription().state == .active)
            let shares = try await store.shares()
            #expect(shares.count == 2 && shares.allSatisfy { $0.originalID == share.id })
            #expect(shares.last?.subscription?.start == share.subscription?.end)
            #expect(shares.last?.subscription?.shared?.began == .recovered)
            // The first one prolongs nothing any more.
            let first = try await standing(of: share, in: store)
            #expect(first?.gracePeriodEnd == nil && first?.followed == nil)
        }
    }

    @Test func aMemberHasNoServiceWhileTheBuyerOwesWithoutAGracePeriod() async throws {
        try await withUnpaidClub(hasGrace: false) { store, share in
            let period = try #require(try await store.load(share.id).subscription)
            #expect(period.shared?.state == .inBillingRetryPeriod)
            #expect(period.shared?.followed == .billingRetryBegan)
            #expect(period.serviceEnd == share.subscription?.end)
        }
    }

    @Test func whoLeavesInTheGracePeriodLosesTheShareAtOnce() async throws {
        try await withUnpaidClub { store, share in
            let account = AccountKey(accountID: "bob", bundleID: alice.bundleID)
            _ = try await store.families.leave(account, trace: .begin())
            try await store.shareAll()
            #expect(try await store.load(share.id).revokedAt != nil)
        }
    }

    @Test func whoJoinsInTheGracePeriodHasTheServiceUntilItsEnd() async throws {
        try await withUnpaidClub { store, _ in
            let account = AccountKey(accountID: "bob", bundleID: alice.bundleID)
            _ = try await store.families.leave(account, trace: .begin())
            _ = try await store.family("alice", "cleo")
            try await store.shareAll()
            let shares = try await store.shares()
            #expect(shares.map(\.accountID) == ["cleo"])
            let end = try await store.subscription().gracePeriodEnd
            #expect(end != nil && shares.map(\.subscription?.serviceEnd) == [end])
        }
    }

    @Test func theShareEndsWithASubscriptionThatIsNotRenewed() async throws {
        try await withStore { store in
            var club = club(level: 2)
            club.isFamilyShareable = true
            try await store.sell(club)
            _ = try await store.family("alice", "bob")
            let bought = try await store.buy(request("club", price: usd(299)), key: "1")
            try await store.shareAll()
            let share = try #require(try await store.shares().first)
            _ = try await store.subscriptions.decide(
                .autoRenew(false),
                on: bought.id,
                trace: .begin()
            )
            try await store.advance(days: 31)
            try await store.shareAll()
            let ended = try await standing(of: share, in: store)
            #expect(ended?.state == .expired && ended?.followed == .expired)
            // The buyer comes back, and so does the member.
            try await store.buy(request("club", price: usd(299)), key: "2")
            try await store.shareAll()
            let again = try #require(try await store.shares().last)
            #expect(again.originalID == share.id && again.id != share.id)
            #expect(again.subscription?.shared?.began == .resubscribed)
        }
    }
}

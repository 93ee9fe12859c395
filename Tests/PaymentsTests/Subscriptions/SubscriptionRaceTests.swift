import EventTypes
import Ledger
import StoreAPI
import StoreTracing
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// Two things that happen to one account's subscription at the same time, and charges whose outcome comes
/// late (rules S84, S86, S101, S112 and S505).
@Suite(.timeLimit(.minutes(10))) struct SubscriptionRaceTests {
    private static let day = Duration.seconds(86_400)
    /// From the purchase to the first charge of the renewal.
    private static let untilCharge = Duration.seconds(30 * 86_400)

    /// Buys `silver`, which has level 2; `gold` is higher.
    private func withSilver(
        _ body: @Sendable (Store, Transaction) async throws -> Void
    ) async throws {
        try await withStore { store in
            try await store.sell(
                club("gold", price: usd(999)),
                club("silver", level: 2),
                club("bronze", level: 3, price: usd(99))
            )
            try await body(store, store.buy(request("silver", price: usd(299)), key: "1"))
        }
    }

    private func expectNothingLost(
        _ store: Store,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(try await store.booksBalance(), sourceLocation: location)
        #expect(try await store.auditFindings() == [], sourceLocation: location)
    }

    // MARK: - Two purchases

    @Test func ofTwoProductsAtOnceOneIsGivenBack() async throws {
        try await withStore { store in
            try await store.sell(club("gold", price: usd(999)), club("silver", level: 2))
            let gold = try await store.add(request("gold", price: usd(999)), key: "1")
            let silver = try await store.add(request("silver", price: usd(299)), key: "2")
            try await store.settle()
            let states = [try await store.load(gold.id), try await store.load(silver.id)]
            #expect(Set(states.map(\.state)) == [.purchased, .failed])
            #expect(try await store.subscriptionChanges().map(\.cause) == [.purchased])
            let loser = try #require(states.first { $0.state == .failed })
            #expect(try await store.postings(of: loser.id) == [.strayCharge, .strayChargeReturn])
            try await expectNothingLost(store)
        }
    }

    /// Instances that get one request at once all answer with the payment that one of them makes.
    @Test func aFreeTrialThatInstancesAreAskedForAtOnceBeginsOnce() async throws {
        try await withStore(poolSize: 8) { store in
            try await store.sell(club(offer: freeWeek))
            let ids = try await withThrowingTaskGroup(of: TransactionID.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await store.add(request("club", price: usd(0)), key: "1").id
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            try await store.settle()
            #expect(ids.count == 1)
            #expect(try await store.count("transactions") == 1)
            try await expectNothingLost(store)
        }
    }

    /// Trap 9 of the specification: nothing ends before the new product is paid.
    @Test func anUpgradeThatIsDeclinedChangesNothing() async throws {
        try await withSilver { store, silver in
            let before = try await store.subscription()
            store.clock.advance(by: Self.day)
            let gold = try await store.buy(
                request("gold", price: usd(999), method: .decline),
                key: "2"
            )
            #expect(gold.state == .failed)
            #expect(try await store.subscription() == before)
            #expect(try await store.load(silver.id).refunds == nil)
            try await expectNothingLost(store)
        }
    }

    // MARK: - An upgrade against a renewal

    /// Accepts an upgrade and begins to charge for a renewal, and returns the attempts of both.
    private func upgradeAndRenewal(
        _ store: Store
    ) async throws -> (upgrade: [ProcessorAttempt], renewal: [ProcessorAttempt]) {
        store.clock.advance(by: Self.untilCharge)
        try await store.add(request("gold", price: usd(999)), key: "2")
        let upgrade = store.pending.take()
        #expect(try await store.renewals.carryOut(limit: 10) == 1)
        return (upgrade, store.pending.take())
    }

    @Test func anUpgradeAfterTheRenewalGivesTheNewPeriodBack() async throws {
        try await withSilver { store, silver in
            let (upgrade, renewal) = try await upgradeAndRenewal(store)
            for attempts in [renewal, upgrade] {
                store.pending.append(attempts)
                try await store.settle()
            }
            let all = try await store.transactions()
            #expect(all.map(\.state) == [.purchased, .purchased, .purchased])
            // A day of 31 is left of the running period; the next one has not begun.
            #expect(all[0].refundedAmount == usd(9))
            let renewed = try #require(all.first { $0.reason == .renewal })
            #expect(renewed.refundedAmount == usd(299))
            let present = try await store.subscription()
            #expect(present.product.id.rawValue == "gold")
            #expect(present.period.start == store.clock.now())
            let causes = try await store.subscriptionChanges().map(\.cause)
            #expect(causes == [.purchased, .renewed, .upgraded])
            try await expectNothingLost(store)
        }
    }

    @Test func aRenewalAfterTheUpgradeIsGivenBack() async throws {
        try await withSilver { store, silver in
            let (upgrade, renewal) = try await upgradeAndRenewal(store)
            for attempts in [upgrade, renewal] {
                store.pending.append(attempts)
                try await store.settle()
            }
            let late = try #require(try await store.transactions().first { $0.reason == .renewal })
            #expect(late.state == .failed && late.failureReason == .subscriptionChanged)
            #expect(try await store.postings(of: late.id) == [.strayCharge, .strayChargeReturn])
            #expect(try await store.subscription().product.id.rawValue == "gold")
            let causes = try await store.subscriptionChanges().map(\.cause)
            #expect(causes == [.purchased, .upgraded])
            try await expectNothingLost(store)
        }
    }

    @Test func anUpgradeAndARenewalAtOnceAreTwoChargesAtMost() async throws {
        try await withSilver { store, _ in
            let (upgrade, renewal) = try await upgradeAndRenewal(store)
            store.pending.append(upgrade + renewal)
            try await store.settle()
            #expect(try await store.subscription().product.id.rawValue == "gold")
            #expect(try await store.count("sandbox_processor.charges") == 3)
            try await expectNothingLost(store)
        }
    }

    // MARK: - A cancellation against a charge

    @Test func whoCancelsDuringTheChargeHasTheNextPeriod() async throws {
        try await withSilver { store, silver in
            store.clock.advance(by: Self.untilCharge)
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
            let off = SubscriptionHandler.Decision.autoRenew(false)
            _ = try await store.subscriptions.decide(off, on: silver.id, trace: .begin())
            try await store.settle()
            try await store.advance(days: 62)
            #expect(try await store.transactions().count == 2)
            let causes = try await store.subscriptionChanges().map(\.cause)
            #expect(causes == [.purchased, .autoRenewTurnedOff, .renewed, .expired])
            try await expectNothingLost(store)
        }
    }

    /// Whichever is first, no charge is begun after the answer to a cancellation.
    @Test func aCancellationAndADueChargeAtOnceAgree() async throws {
        try await withSilver { store, silver in
            store.clock.advance(by: Self.untilCharge)
            let off = SubscriptionHandler.Decision.autoRenew(false)
            async let begun = store.renewals.carryOut(limit: 10)
            async let answer = store.subscriptions.decide(off, on: silver.id, trace: .begin())
            let count = try await begun
            guard case .done(let cancelled) = try await answer else {
                return #expect(Bool(false), "it was refused")
            }
            #expect(!cancelled.isAutoRenewOn)
            // The action takes the row, passes over it while it is locked, or finds nothing due.
            let isCharged = try await store.transactions().count == 2
            #expect(isCharged == (cancelled.charge != nil) && count <= 1)
            try await store.settle()
            try await store.advance(days: 62)
            #expect(try await store.transactions().count == (isCharged ? 2 : 1))
            #expect(try await store.subscription().state == .expired)
            try await expectNothingLost(store)
        }
    }

    // MARK: - Ask to Buy

    @Test func anApprovedSubscriptionBeginsWithItsCharge() async throws {
        try await withStore { store in
            try await store.sell(club())
            let asked = try await store.buy(
                request("club", price: usd(299), method: .needsApproval),
                key: "1"
            )
            #expect(asked.state == .deferred)
            #expect(try await store.subscriptionRow()?.subscription == nil)
            store.clock.advance(by: .seconds(3600))
            _ = try await store.approvals.decide(.approve, on: asked.id)
            try await store.settle()
            let bought = try await store.load(asked.id)
            #expect(bought.state == .purchased)
            #expect(bought.subscription?.start == startTime.advanced(by: .seconds(3600)))
            // Nobody is asked again for a renewal.
            try await store.advance(days: 31)
            #expect(try await store.transactions().map(\.state) == [.purchased, .purchased])
            #expect(try await store.subscriptionChanges().map(\.cause) == [.purchased, .renewed])
            try await expectNothingLost(store)
        }
    }

    /// While the approval was awaited, the account has subscribed on another device.
    @Test func anApprovalOfWhatRunsByNowChargesNobody() async throws {
        try await withStore { store in
            try await store.sell(club())
            let asked = try await store.buy(
                request("club", price: usd(299), method: .needsApproval),
                key: "1"
            )
            let bought = try await store.buy(request("club", price: usd(299)), key: "2")
            #expect(bought.state == .purchased)
            _ = try await store.approvals.decide(.approve, on: asked.id)
            try await store.settle()
            let late = try await store.load(asked.id)
            #expect(late.state == .failed && late.failureReason == .subscriptionChanged)
            #expect(try await store.postings(of: late.id) == [])
            #expect(try await store.count("sandbox_processor.charges") == 1)
            #expect(try await store.subscription().id == bought.id)
            try await expectNothingLost(store)
        }
    }

    @Test func aDeclinedApprovalBeginsNothing() async throws {
        try await withStore { store in
            try await store.sell(club())
            let asked = try await store.buy(
                request("club", price: usd(299), method: .needsApproval),
                key: "1"
            )
            _ = try await store.approvals.decide(.decline, on: asked.id)
            #expect(try await store.load(asked.id).failureReason == .approvalDeclined)
            #expect(try await store.subscriptionChanges() == [])
            // The place is free.
            let bought = try await store.buy(request("club", price: usd(299)), key: "2")
            #expect(bought.state == .purchased)
            try await expectNothingLost(store)
        }
    }

    // MARK: - Outcomes that come late

    /// Begins the charge at a renewal's time, whose answer is lost.
    private func loseAnswer(_ store: Store, after duration: Duration) async throws {
        store.clock.advance(by: duration)
        store.processor.loseAnswers(1)
        #expect(try await store.renewals.carryOut(limit: 10) == 1)
        try await store.settle()
        #expect(try await store.subscription().charge != nil)
    }

    /// S505.
    @Test func anUnknownOutcomeAtTheEndLeavesNoGap() async throws {
        try await withSilver { store, silver in
            try await loseAnswer(store, after: Self.untilCharge)
            // The period ends while nobody knows.
            store.clock.advance(by: Self.day + .seconds(600))
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
            #expect(try await store.subscription().state == .inBillingRetryPeriod)
            try await store.recover()
            let renewal = try #require(try await store.transactions().last)
            #expect(renewal.state == .purchased)
            #expect(renewal.subscription?.start == silver.subscription?.end)
            #expect(try await store.count("sandbox_processor.charges") == 2)
            let causes = try await store.subscriptionChanges().map(\.cause)
            #expect(causes == [.purchased, .billingRetryBegan, .recovered])
            try await expectNothingLost(store)
        }
    }

    /// S505.
    @Test func anUnknownOutcomeOfWhatWasCancelledIsGivenBack() async throws {
        try await withSilver { store, silver in
            try await loseAnswer(store, after: Self.untilCharge)
            store.clock.advance(by: Self.day + .seconds(600))
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
            let off = SubscriptionHandler.Decision.autoRenew(false)
            _ = try await store.subscriptions.decide(off, on: silver.id, trace: .begin())
            #expect(try await store.subscription().state == .expired)
            try await store.recover()
            let late = try #require(try await store.transactions().last)
            #expect(late.state == .failed)
            #expect(try await store.postings(of: late.id) == [.strayCharge, .strayChargeReturn])
            #expect(try await store.subscription().state == .expired)
            try await expectNothingLost(store)
        }
    }

    // MARK: - Clocks and refunds

    /// S523: a clock that goes back makes nothing happen twice.
    @Test func aClockThatGoesBackChargesNothingTwice() async throws {
        try await withSilver { store, _ in
            try await store.advance(days: 31)
            #expect(try await store.transactions().count == 2)
            let present = try await store.subscription()
            store.clock.advance(by: .seconds(-3 * 86_400))
            try await store.renew()
            #expect(try await store.subscription() == present)
            try await store.advance(days: 4)
            #expect(try await store.transactions().count == 2)
            try await store.advance(days: 29)
            #expect(try await store.transactions().count == 3)
            try await expectNothingLost(store)
        }
    }

    /// S134: each refund and each reversal counts once, however often they alternate.
    @Test func aRefundMayFollowAReversal() async throws {
        try await withSilver { store, silver in
            for number in 1...2 {
                store.clock.advance(by: Self.day)
                _ = try await store.refunds.refund(silver.id, trace: .begin())
                #expect(try await store.subscription().state == .revoked)
                guard number == 1 else { break }
                let reversed = silver.id
                _ = try await store.refunds
                    .reverseRefund(number, of: reversed, by: nil, trace: .begin())
                let back = try await store.subscription()
                #expect(back.state == .active && !back.isAutoRenewOn)
            }
            let causes = try await store.subscriptionChanges().map(\.cause)
            #expect(causes == [.purchased, .refunded, .refundReversed, .refunded])
            try await store.advance(days: 40)
            #expect(try await store.subscriptionChanges().count == 4)
            #expect(try await store.booksBalance())
        }
    }
}

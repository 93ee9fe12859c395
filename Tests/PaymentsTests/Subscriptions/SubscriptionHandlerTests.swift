import EventTypes
import ServiceKit
import StoreAPI
import StoreTracing
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// Decisions of accounts and administrators about subscriptions.
@Suite struct SubscriptionHandlerTests {
    /// Buys `silver`, which has level 2; `gold` is higher, `bronze` lower.
    private func withSilver(
        _ method: SandboxPaymentMethod = .success,
        _ body: @Sendable (Store, TransactionID) async throws -> Void
    ) async throws {
        try await withStore { store in
            try await store.sell(
                club("gold", price: usd(999)),
                club("silver", level: 2),
                club("bronze", level: 3, price: usd(99))
            )
            var request = request("silver", price: usd(299))
            request.paymentMethod = method.method
            try await body(store, store.buy(request, key: "1").id)
        }
    }

    private func decide(
        _ decision: SubscriptionHandler.Decision,
        on id: TransactionID,
        by key: AccountKey? = nil,
        in store: Store
    ) async throws -> SubscriptionHandler.Reply {
        try await store.subscriptions.decide(decision, on: id, by: key, trace: .begin())
    }

    private func product(_ id: String) -> SubscriptionHandler.Decision {
        .product(ProductID(unchecked: id))
    }

    @Test func aCancelledSubscriptionLapses() async throws {
        try await withSilver { store, id in
            guard case .done(let cancelled) = try await decide(.autoRenew(false), on: id, in: store)
            else { return #expect(Bool(false), "it was refused") }
            #expect(!cancelled.isAutoRenewOn && cancelled.state == .active)
            // A repeated request changes nothing.
            let again = try await decide(.autoRenew(false), on: id, in: store)
            #expect(again == .done(cancelled))
            try await store.advance(days: 31)
            #expect(try await store.subscription().state == .expired)
            #expect(try await store.count("transactions") == 1)
            let causes = try await store.subscriptionChanges().map(\.cause)
            #expect(causes == [.purchased, .autoRenewTurnedOff, .expired])
            #expect(try await store.auditFindings() == [])
            let late = try await decide(.autoRenew(true), on: id, in: store)
            #expect(late == .refused(.ended))
        }
    }

    @Test func aChangeSaysWhichAdministratorDecidedItAndWhy() async throws {
        try await withSilver { store, id in
            let act = Act(
                decidedBy: AdministratorName(unchecked: "mia"),
                reason: ActReason(rawValue: "asked by phone")
            )
            _ = try await store.subscriptions.decide(
                .autoRenew(false),
                on: id,
                act: act,
                trace: .begin()
            )
            // What the account decides, and what time does, is nobody's act.
            let subscription = try await store.subscription()
            let key = AccountKey(
                accountID: subscription.accountID,
                bundleID: subscription.bundleID
            )
            _ = try await decide(.autoRenew(true), on: id, by: key, in: store)
            try await store.advance(days: 31)
            _ = try await store.refunds.refund(id, RefundTerms(act: act))
            let acts = try await store.subscriptionChanges().map(\.act)
            #expect(acts == [nil, act, nil, nil, act])
        }
    }

    @Test func aResumedSubscriptionRenews() async throws {
        try await withSilver { store, id in
            _ = try await decide(.autoRenew(false), on: id, in: store)
            _ = try await decide(.autoRenew(true), on: id, in: store)
            try await store.advance(days: 31)
            let causes = try await store.subscriptionChanges().map(\.cause)
            #expect(causes == [.purchased, .autoRenewTurnedOff, .autoRenewTurnedOn, .renewed])
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func whoCancelsWhileNothingIsPaidEndsIt() async throws {
        try await withSilver(.renewalDeclined) { store, id in
            try await store.advance(days: 32)
            #expect(try await store.subscription().state == .inBillingRetryPeriod)
            _ = try await decide(.autoRenew(false), on: id, in: store)
            #expect(try await store.subscription().state == .expired)
            #expect(try await store.subscriptionChanges().last?.cause == .cancelledUnpaid)
        }
    }

    @Test func aLowerProductFollowsWithTheRenewal() async throws {
        try await withSilver { store, id in
            guard case .done(let chosen) = try await decide(product("bronze"), on: id, in: store)
            else { return #expect(Bool(false), "it was refused") }
            #expect(chosen.pendingProduct?.price == usd(99) && chosen.product.price == usd(299))
            try await store.advance(days: 31)
            let renewal = try #require(try await store.transactions().last)
            #expect(renewal.productID.rawValue == "bronze" && renewal.price == usd(99))
            #expect(renewal.subscription?.terms.level == 3)
            let causes = try await store.subscriptionChanges().map(\.cause)
            #expect(causes == [.purchased, .productScheduled, .renewed])
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func theRunningProductWithdrawsAChoice() async throws {
        try await withSilver { store, id in
            _ = try await decide(product("bronze"), on: id, in: store)
            _ = try await decide(product("silver"), on: id, in: store)
            #expect(try await store.subscription().pendingProduct == nil)
            // Choosing it again changes nothing.
            let before = try await store.subscriptionChanges().count
            _ = try await decide(product("silver"), on: id, in: store)
            #expect(try await store.subscriptionChanges().count == before)
        }
    }

    @Test func theRunningProductIsChargedWhileItIsOwed() async throws {
        // The processor declines the first four tries to renew.
        try await withSilver(.renewalRecovers) { store, id in
            try await store.advance(days: 31)
            #expect(try await store.subscription().state == .inBillingRetryPeriod)
            let tries = try await store.transactions().count
            guard case .done(let asked) = try await decide(product("silver"), on: id, in: store)
            else { return #expect(Bool(false), "it was refused") }
            let charge = try #require(asked.charge)
            #expect(charge.product.price == usd(299))
            // Asking twice begins one charge.
            let again = try await decide(product("silver"), on: id, in: store)
            #expect(again == .done(asked))
            #expect(try await store.transactions().count == tries + 1)
            try await store.settle()
            let present = try await store.subscription()
            #expect(present.state == .active && present.period.charge == charge.key)
            #expect(present.period.start == store.clock.now())
            #expect(try await store.subscriptionChanges().last?.cause == .recovered)
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func aTestHasTheNextPeriodBeginNow() async throws {
        try await withSilver { store, id in
            let first = try await store.subscription().period
            guard case .done(let asked) = try await decide(.charge(.nextPeriod), on: id, in: store)
            else { return #expect(Bool(false), "it was refused") }
            #expect(asked.charge?.endsPeriod == true && asked.period == first)
            try await store.settle()
            let present = try await store.subscription()
            #expect(present.period.start == store.clock.now() && present.period.start < first.end)
            #expect(try await store.subscriptionChanges().last?.cause == .renewed)
            #expect(try await store.auditFindings() == [])
        }
    }

    /// As two devices, or a request that is sent again because its answer is late.
    @Test func forcedRenewalsAtOnceChargeOnce() async throws {
        try await withSilver { store, id in
            async let one = decide(.charge(.nextPeriod), on: id, in: store)
            async let other = decide(.charge(.nextPeriod), on: id, in: store)
            for reply in [try await one, try await other] {
                guard case .done(let asked) = reply else {
                    return #expect(Bool(false), "it was refused")
                }
                #expect(asked.charge?.endsPeriod == true)
            }
            try await store.settle()
            #expect(try await store.transactions().count == 2)
            #expect(try await store.subscriptionChanges().map(\.cause) == [.purchased, .renewed])
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func aForcedRenewalThatIsRepeatedUnderItsKeyChargesOnce() async throws {
        try await withSilver { store, id in
            @Sendable func renew(_ key: String) async throws -> SubscriptionHandler.Reply {
                try await store.subscriptions.decide(
                    .charge(.nextPeriod),
                    on: id,
                    under: IdempotencyKey(unchecked: key),
                    trace: .begin()
                )
            }
            // The key of a payment is another one.
            async let one = renew("1")
            async let other = renew("1")
            _ = try await (one, other)
            try await store.settle()
            let renewed = try await store.subscription()
            #expect(try await renew("1") == .done(renewed))
            try await store.settle()
            #expect(try await store.transactions().count == 2)
            try await store.advance(days: 1)
            _ = try await renew("2")
            try await store.settle()
            #expect(try await store.transactions().count == 3)
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func aTestPaysWhatIsOwedByAnotherMethod() async throws {
        try await withSilver(.renewalDeclined) { store, id in
            try await store.advance(days: 31)
            let pay = SubscriptionHandler.Decision.charge(
                .owedBy(SandboxPaymentMethod.success.method)
            )
            _ = try await decide(pay, on: id, in: store)
            try await store.settle()
            #expect(try await store.subscription().state == .active)
            #expect(try await decide(pay, on: id, in: store) == .refused(.nothingOwed))
            // The method pays the renewals from now on.
            try await store.advance(days: 40)
            #expect(try await store.subscription().state == .active)
            #expect(try await store.auditFindings() == [])
        }
    }

    private static let working = SubscriptionHandler.Decision.method(
        SandboxPaymentMethod.success.method
    )

    @Test func anotherMethodIsChargedAtOnceForWhatIsOwed() async throws {
        try await withSilver(.renewalDeclined) { store, id in
            try await store.advance(days: 31)
            let tries = try await store.transactions().count
            // Choosing twice begins one charge.
            for _ in 0..<2 {
                guard case .done(let asked) = try await decide(Self.working, on: id, in: store)
                else { return #expect(Bool(false), "it was refused") }
                #expect(asked.charge != nil)
            }
            #expect(try await store.transactions().count == tries + 1)
            try await store.settle()
            #expect(try await store.subscription().state == .active)
            try await store.advance(days: 40)
            #expect(try await store.subscription().state == .active)
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func aChosenMethodThatIsDeclinedIsOneTryOfMany() async throws {
        try await withSilver(.renewalDeclined) { store, id in
            try await store.advance(days: 31)
            let declined = SubscriptionHandler.Decision.method(SandboxPaymentMethod.decline.method)
            guard case .done(let asked) = try await decide(declined, on: id, in: store)
            else { return #expect(Bool(false), "it was refused") }
            #expect(asked.charge != nil)
            try await store.settle()
            #expect(try await store.subscription().state == .inBillingRetryPeriod)
            let tries = try await store.transactions().count
            try await store.advance(days: 10)
            #expect(try await store.transactions().count > tries)
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func aMethodThatIsChosenInTimePaysTheNextRenewal() async throws {
        try await withSilver(.renewalDeclined) { store, id in
            guard case .done(let chosen) = try await decide(Self.working, on: id, in: store)
            else { return #expect(Bool(false), "it was refused") }
            #expect(chosen.charge == nil)
            #expect(try await store.transactions().count == 1)
            try await store.advance(days: 31)
            #expect(try await store.subscription().state == .active)
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func anUnknownMethodPaysNothing() async throws {
        try await withSilver(.renewalDeclined) { store, id in
            let unknown = try await decide(.method("pm_unknown"), on: id, in: store)
            #expect(unknown == .refused(.paymentMethodUnknown))
            try await store.advance(days: 31 + 61)
            #expect(try await decide(Self.working, on: id, in: store) == .refused(.ended))
        }
    }

    @Test func whoAsksAfterBillingRetryIsTooLate() async throws {
        try await withSilver(.renewalDeclined) { store, id in
            try await store.advance(days: 31)
            store.clock.advance(by: .seconds(61 * 86_400))
            let tries = try await store.transactions().count
            #expect(try await decide(product("silver"), on: id, in: store) == .refused(.ended))
            #expect(try await store.transactions().count == tries)
        }
    }

    @Test func aChoiceThatIsNotPossibleIsRefused() async throws {
        try await withSilver { store, id in
            var other = club("other")
            other.subscription?.groupID = SubscriptionGroupID(unchecked: "others")
            try await store.sell(other)
            let before = try await store.counts()
            let refusals: [(String, SubscriptionChangeRefusal)] = [
                ("gold", .needsPayment), ("other", .otherGroup), ("nothing", .productUnavailable),
            ]
            for (name, refusal) in refusals {
                #expect(try await decide(product(name), on: id, in: store) == .refused(refusal))
            }
            #expect(try await store.counts() == before)
        }
    }

    @Test func nobodyReachesTheSubscriptionOfAnother() async throws {
        let own = AccountKey(accountID: alice.accountID, bundleID: alice.bundleID)
        let other = AccountKey(
            accountID: AccountID(unchecked: "mallory"),
            bundleID: alice.bundleID
        )
        try await withSilver { store, id in
            let reply = try await decide(.autoRenew(false), on: id, by: other, in: store)
            #expect(reply == .unknown)
            let handler = store.subscriptions
            let foreign = try await handler.subscription(id, of: other)
            #expect(foreign == nil)
            let none = try await handler.subscriptions(of: other)
            #expect(none.isEmpty)
            let listed = try await handler.subscriptions(of: own)
            #expect(listed.map(\.id) == [id])
            let found = try await handler.subscription(id, of: own)
            #expect(found?.id == id)
        }
    }

    @Test func administratorsListSubscriptionsByState() async throws {
        try await withSilver { store, id in
            let cases: [(SubscriptionState?, TransactionID?, [TransactionID])] = [
                (.active, nil, [id]), (nil, nil, [id]), (nil, id, []), (.expired, nil, []),
            ]
            for (state, after, expected) in cases {
                let page = try await store.subscriptions.page(in: state, after: after, limit: 9)
                #expect(page.map(\.id) == expected)
            }
        }
    }

    @Test func aLateEndIsSeenAtOnce() async throws {
        try await withSilver { store, id in
            _ = try await decide(.autoRenew(false), on: id, in: store)
            store.clock.advance(by: .seconds(31 * 86_400))
            // Nothing has been carried out yet, and the state follows from the dates.
            #expect(try await store.subscriptions.subscription(id)?.state == .expired)
            #expect(try await store.subscription().state == .active)
        }
    }
}

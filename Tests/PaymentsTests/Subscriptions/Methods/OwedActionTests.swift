import EventTypes
import Ledger
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing
import TestSupport
import Testing

@testable import Payments

/// Charges for what is owed that wait for the buyer who has asked for them.
@Suite(.timeLimit(.minutes(10))) struct OwedActionTests {
    private let hour = Duration.seconds(3600)

    @Test func whoAsksIsShownTheBanksPageAndPaysThere() async throws {
        try await withOwed { store, id in
            let tries = try await store.transactions().count
            let charges = store.processor.chargesAsked
            guard case .done(let asked) = try await store.ask(for: id) else {
                return #expect(Bool(false), "It was refused.")
            }
            #expect(asked.charge != nil)
            guard case .act(_, let end) = try await store.owedAction(of: id) else {
                return #expect(Bool(false), "There is no page.")
            }
            #expect(end == store.clock.machineNow().advanced(by: hour))
            guard case .unknown = try await store.owedAction(of: id, bob) else {
                return #expect(Bool(false), "Another account was told.")
            }
            // Whoever asks again is shown the same page.
            _ = try await store.ask(for: id)
            let renewal = try #require(try await store.transactions().last)
            #expect(try await store.transactions().count == tries + 1)
            #expect(renewal.reason == .renewal && renewal.state == .purchasing)
            #expect(try await store.act(on: renewal.id, .completed) == .completed)
            guard case .nothingToDo = try await store.owedAction(of: id) else {
                return #expect(Bool(false), "The buyer would have to act again.")
            }
            let paid = try await store.subscription()
            #expect(paid.state == .active && paid.charge == nil && paid.renewalProblem == nil)
            #expect(try await store.postings(of: renewal.id) == [.purchase])
            #expect(store.processor.chargesAsked == charges + 1)
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func theBuyerIsAskedOnlyIfTheBankWantedToSeeThem() async throws {
        try await withStore { store in
            try await store.sell(club())
            let first = request("club", price: usd(299), method: .renewalDeclined)
            let id = try await store.buy(first, key: "a").id
            try await store.advance(days: 32)
            #expect(try await store.subscription().renewalProblem == .billing)
            _ = try await store.ask(for: id)
            let away = try #require(try await store.transactions().last)
            #expect(away.failureReason == .buyerMustAct)
            #expect(try await store.subscription().renewalProblem == .buyerMustAct)
            _ = try await store.ask(for: id)
            guard case .act = try await store.owedAction(of: id) else {
                return #expect(Bool(false), "There is no page.")
            }
        }
    }

    @Test func anAdministratorWhoAsksShowsNobodyAPage() async throws {
        try await withOwed { store, id in
            let decision = SubscriptionHandler.Decision.product(ProductID(unchecked: "club"))
            _ = try await store.subscriptions.decide(decision, on: id, trace: .begin())
            try await store.settle()
            #expect(try await store.transactions().last?.failureReason == .buyerMustAct)
            #expect(try await store.subscription().charge == nil)
        }
    }

    @Test func aPageThatIsLeftIsAFailedTryAndTheStoreTriesOn() async throws {
        try await withOwed { store, id in
            _ = try await store.ask(for: id)
            let left = try #require(try await store.transactions().last)
            try await store.recover(after: hour)
            #expect(try await store.load(left.id).failureReason == .buyerMustAct)
            let owed = try await store.subscription()
            #expect(owed.state == .inBillingRetryPeriod && owed.charge == nil)
            #expect(owed.renewalProblem == .buyerMustAct)
            // The page is closed: it charges nobody any more.
            #expect(try await store.act(on: left.id, .completed) == .refused)
            try await store.recover()
            #expect(try await store.postings(of: left.id) == [])
            let tries = try await store.transactions().count
            try await store.advance(days: 2)
            #expect(try await store.transactions().count > tries)
            // The buyer may ask for the page again.
            _ = try await store.ask(for: id)
            let again = try #require(try await store.transactions().last)
            #expect(try await store.act(on: again.id, .completed) == .completed)
            try await store.recover()
            #expect(try await store.subscription().state == .active)
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func theBankThatRefusesTheBuyerEndsTheTry() async throws {
        try await withOwed { store, id in
            _ = try await store.ask(for: id)
            let refused = try #require(try await store.transactions().last)
            #expect(try await store.act(on: refused.id, .refused) == .refused)
            guard case .nothingToDo = try await store.owedAction(of: id) else {
                return #expect(Bool(false), "The buyer would have to act again.")
            }
            #expect(try await store.load(refused.id).failureReason == .paymentDeclined)
            let owed = try await store.subscription()
            #expect(owed.charge == nil && owed.renewalProblem == .billing)
        }
    }

    @Test func noOtherTryIsMadeWhileThePageWaits() async throws {
        try await withOwed { store, id in
            _ = try await store.ask(for: id)
            // An advance of the store's clock does not wait for the buyer.
            #expect(try await store.dueWork()[.repeatedCharges] == nil)
            let tries = try await store.transactions().count
            let renewal = try #require(try await store.transactions().last)
            store.clock.advance(by: .seconds(5 * 86_400))
            #expect(try await store.renewals.carryOut(limit: 10) == 0)
            #expect(try await store.transactions().count == tries)
            // It was confirmed before the processor was told to end it.
            _ = try await store.act(on: renewal.id, .completed)
            try await store.recover()
            #expect(try await store.subscription().state == .active)
            #expect(try await store.postings(of: renewal.id) == [.purchase])
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func anotherCardChosenMeanwhilePaysAtOnce() async throws {
        try await withOwed { store, id in
            _ = try await store.ask(for: id)
            let left = try #require(try await store.transactions().last)
            let charges = store.processor.chargesAsked
            guard case .done(let asked) = try await store.choose(.success, for: id) else {
                return #expect(Bool(false), "It was refused.")
            }
            #expect(asked.charge != nil)
            #expect(try await store.load(left.id).failureReason == .buyerMustAct)
            // The page is closed: it charges nobody any more.
            #expect(try await store.act(on: left.id, .completed) == .refused)
            let paid = try #require(try await store.transactions().last)
            #expect(paid.id != left.id && paid.state == .purchased)
            #expect(try await store.subscription().state == .active)
            try await store.recover(after: hour)
            #expect(store.processor.chargesAsked == charges + 1)
            #expect(try await store.postings(of: left.id) == [])
            #expect(try await store.postings(of: paid.id) == [.purchase])
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func whatWasConfirmedFirstIsNotPaidAgainByAnotherCard() async throws {
        try await withOwed { store, id in
            _ = try await store.ask(for: id)
            let confirmed = try #require(try await store.transactions().last)
            let charges = store.processor.chargesAsked
            #expect(try await store.act(on: confirmed.id, .completed) == .completed)
            // The store has not heard of it.
            _ = try await store.choose(.success, for: id)
            #expect(try await store.transactions().last?.id == confirmed.id)
            #expect(try await store.subscription().state == .active)
            #expect(store.processor.chargesAsked == charges)
            #expect(try await store.postings(of: confirmed.id) == [.purchase])
            #expect(try await store.auditFindings() == [])
        }
    }

    /// The process is killed before or after the end of the page is written, and the app asks again.
    @Test(arguments: [false, true])
    func afterAKillAtTheEndOfThePageTheChoicePays(isWritten: Bool) async throws {
        try await withOwed { store, id in
            _ = try await store.ask(for: id)
            let left = try #require(try await store.transactions().last)
            let attempt = try await store.attempt(of: left.id)
            if isWritten {
                await store.runner.end([attempt])
            } else {
                await store.processor.cancel([Inquiry(attempt)]) { _, _ in }
            }
            let isEnded = try await store.subscription().charge == nil
            #expect(isEnded == isWritten)
            _ = try await store.choose(.success, for: id)
            #expect(try await store.subscription().state == .active)
            #expect(try await store.postings(of: left.id) == [])
            #expect(try await store.auditFindings() == [])
        }
    }

    /// Nothing may be charged by the method, or the account is not the subscriber's.
    @Test func aChoiceThatIsRefusedEndsNoPage() async throws {
        try await withOwed { store, id in
            _ = try await store.ask(for: id)
            let unknown = SubscriptionHandler.Decision.method("nobodys")
            let refused = try await store.subscriptions.decide(
                unknown,
                on: id,
                by: alice.accountKey,
                trace: .begin()
            )
            #expect(refused == .refused(.paymentMethodUnknown))
            #expect(try await store.choose(.success, for: id, bob) == .unknown)
            guard case .act = try await store.owedAction(of: id) else {
                return #expect(Bool(false), "There is no page.")
            }
        }
    }

    @Test func afterTheLastTryOfADayThePageStays() async throws {
        try await withOwed { store, id in
            for _ in 1..<AskedTries.dailyMax {
                _ = try await store.ask(for: id)
                let refused = try #require(try await store.transactions().last)
                try await store.recover(after: hour)
                #expect(try await store.load(refused.id).failureReason == .buyerMustAct)
            }
            _ = try await store.ask(for: id)
            let waiting = try #require(try await store.transactions().last)
            _ = try await store.choose(.success, for: id)
            #expect(try await store.transactions().last?.id == waiting.id)
            guard case .act = try await store.owedAction(of: id) else {
                return #expect(Bool(false), "There is no page.")
            }
            try await store.recover(after: hour)
            #expect(try await store.load(waiting.id).failureReason == .buyerMustAct)
            // The card was saved with the subscription.
            try await store.advance(days: 2)
            #expect(try await store.subscription().state == .active)
            #expect(try await store.auditFindings() == [])
        }
    }

    /// A try is counted a moment before its charge begins.
    @Test func aChargeBegunAfterMidnightHasThePageOfItsTry() async throws {
        try await withOwed { store, id in
            let rest = AskedTries(of: id, at: store.clock.now()).rest
            store.clock.advance(by: rest - .seconds(1))
            _ = try await store.ask(for: id)
            let asked = try await store.subscription()
            let renewal = try #require(try await store.transactions().last)
            let start = try #require(asked.charge).startedAt
            for (seconds, isFound) in [(0, true), (2, true), (86_400, false)] {
                var begun = asked
                begun.charge?.startedAt = start.advanced(by: .seconds(seconds))
                let found = try await store.client.withConnection { [begun] connection in
                    try AskedTryStore.open(of: begun, on: connection)
                }
                #expect(found == (isFound ? renewal.id : nil))
            }
        }
    }

    @Test func aWaitingPageHidesNoOtherChargeFromTheClock() async throws {
        try await withOwed { store, id in
            try await store.buy(request("club", price: usd(299)), key: "b", of: bob)
            _ = try await store.ask(for: id)
            // The page is open by the machines' clock.
            store.clock.set(storeAhead: .seconds(31 * 86_400))
            // The other subscription's charge is begun, and the processor is not called yet.
            let time = store.clock.now()
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
            #expect(try await store.dueWork()[.renewals] == time)
            #expect(try await store.dueWork()[.repeatedCharges] == nil)
            guard case .act = try await store.owedAction(of: id) else {
                return #expect(Bool(false), "There is no page.")
            }
        }
    }

    /// The process is killed before the call, or before the commit of its answer.
    @Test(arguments: [false, true])
    func afterAKillTheSameChargeWaitsForItsBuyer(wasCalled: Bool) async throws {
        try await withOwed { store, id in
            let charges = store.processor.chargesAsked
            _ = try await store.decideToPay(for: id)
            let attempts = store.pending.take()
            if wasCalled {
                await store.processor.charge(attempts.map(ChargeRequest.init)) { _, _ in }
            }
            try await store.recover()
            guard case .act = try await store.owedAction(of: id) else {
                return #expect(Bool(false), "There is no page.")
            }
            let renewal = try #require(try await store.transactions().last)
            _ = try await store.act(on: renewal.id, .completed)
            try await store.recover()
            #expect(try await store.subscription().state == .active)
            #expect(try await store.postings(of: renewal.id) == [.purchase])
            #expect(store.processor.chargesAsked == charges + 1)
        }
    }

    @Test func aSubscriptionThatHasEndedHasNoPageAndTakesNoCharge() async throws {
        try await withOwed { store, id in
            _ = try await store.ask(for: id)
            let renewal = try #require(try await store.transactions().last)
            _ = try await store.subscriptions.decide(
                .autoRenew(false),
                on: id,
                by: alice.accountKey,
                trace: .begin()
            )
            #expect(try await store.subscription().state == .expired)
            guard case .nothingToDo = try await store.owedAction(of: id) else {
                return #expect(Bool(false), "There is a page.")
            }
            _ = try await store.act(on: renewal.id, .completed)
            try await store.recover()
            let postings = try await store.postings(of: renewal.id)
            #expect(postings == [.strayCharge, .strayChargeReturn])
            #expect(try await store.booksBalance())
        }
    }

    /// Runs a test with a subscription whose bank wanted to see its buyer at each try to renew.
    private func withOwed(
        _ body: @Sendable (Store, TransactionID) async throws -> Void
    ) async throws {
        try await withStore { store in
            try await store.sell(club())
            let first = request("club", price: usd(299), method: .needsAction)
            let bought = try await store.buy(first, key: "a")
            _ = try await store.act(on: bought.id, .completed)
            try await store.recover()
            try await store.advance(days: 32)
            let owed = try await store.subscription()
            #expect(owed.state == .inBillingRetryPeriod && owed.renewalProblem == .buyerMustAct)
            try await body(store, bought.id)
        }
    }
}

extension Store {
    /// Asks, as the buyer, to pay what a subscription owes by a card for which the bank asks them.
    fileprivate func decideToPay(
        for id: TransactionID
    ) async throws -> SubscriptionHandler.Reply {
        try await subscriptions.decide(
            .method(SandboxPaymentMethod.needsAction.method),
            on: id,
            by: alice.accountKey,
            trace: .begin()
        )
    }

    /// Chooses another method for a subscription, and has the processor called.
    fileprivate func choose(
        _ method: SandboxPaymentMethod,
        for id: TransactionID,
        _ account: AuthenticatedAccount = alice
    ) async throws -> SubscriptionHandler.Reply {
        let reply = try await subscriptions.decide(
            .method(method.method),
            on: id,
            by: account.accountKey,
            trace: .begin()
        )
        try await settle()
        return reply
    }

    /// Asks to pay what a subscription owes, and has the processor called.
    fileprivate func ask(for id: TransactionID) async throws -> SubscriptionHandler.Reply {
        let reply = try await decideToPay(for: id)
        try await settle()
        return reply
    }

    /// The page on which the buyer has to act to pay what a subscription owes.
    fileprivate func owedAction(
        of id: TransactionID,
        _ account: AuthenticatedAccount = alice
    ) async throws -> BuyerActionHandler.Reply {
        let handler = BuyerActionHandler(client: client, processor: processor, runner: runner)
        return try await handler.action(ofSubscription: id, of: account.accountKey)
    }
}

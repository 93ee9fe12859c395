import EventTypes
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing
import StripeStandIn
import TestSupport
import Testing

@testable import Payments

/// Charges for what is owed, by a card for which the bank always wants to see its buyer.
@Suite(.timeLimit(.minutes(10))) struct OwedPageTests {
    @Test func theBuyerWhoAsksPaysOnTheBanksPage() async throws {
        try await withOwed { store, id, card in
            let charges = store.standIn.entries.count
            let page = try await store.ask(for: id, by: card)
            try store.standIn.end(payment: page, succeeds: true)
            guard case .nothingToDo = try await store.owedAction(of: id) else {
                return #expect(Bool(false), "The buyer would have to act again.")
            }
            let paid = try await store.subscription()
            #expect(paid.state == .active && paid.renewalProblem == nil)
            #expect(store.standIn.entries.count == charges + 1)
        }
    }

    @Test func aPageThatIsLeftIsEndedAtStripe() async throws {
        try await withOwed { store, id, card in
            let charges = store.standIn.entries.count
            let page = try await store.ask(for: id, by: card)
            let left = try await store.newest()
            try await store.recover(after: .seconds(3600))
            #expect(try await store.load(left.id).failureReason == .buyerMustAct)
            let owed = try await store.subscription()
            #expect(owed.charge == nil && owed.renewalProblem == .buyerMustAct)
            // Nobody can confirm it any more.
            #expect(throws: (any Error).self) {
                try store.standIn.end(payment: page, succeeds: true)
            }
            #expect(store.standIn.entries.count == charges)
            #expect(try await store.ask(for: id, by: card) != page)
        }
    }

    @Test func aBuyerWhomTheBankDoesNotRecogniseMayAskAgain() async throws {
        try await withOwed { store, id, card in
            let page = try await store.ask(for: id, by: card)
            try store.standIn.end(payment: page, succeeds: false)
            guard case .nothingToDo = try await store.owedAction(of: id) else {
                return #expect(Bool(false), "The buyer would have to act again.")
            }
            #expect(try await store.subscription().charge == nil)
            #expect(try await store.subscription().renewalProblem == .buyerMustAct)
            _ = try await store.ask(for: id, by: card)
        }
    }

    /// The process is killed after Stripe has the payment, and before it knows.
    @Test func aPageWhoseAnswerIsLostIsFoundAndPaysOnce() async throws {
        try await withOwed { store, id, card in
            let charges = store.standIn.entries.count
            _ = try await store.decideToPay(for: id, by: card)
            let attempts = store.pending.take()
            await store.processor.charge(attempts.map(ChargeRequest.init)) { _, _ in }
            try await store.recover()
            guard case .act(let action, _) = try await store.owedAction(of: id) else {
                return #expect(Bool(false), "There is no page.")
            }
            let page = try #require(action.url.split(separator: "/").last)
            try store.standIn.end(payment: String(page), succeeds: true)
            try await store.recover()
            #expect(try await store.subscription().state == .active)
            #expect(store.standIn.entries.count == charges + 1)
        }
    }

    /// The buyer chooses a card that they have saved before, or saves another one.
    @Test(arguments: [true, false])
    func anotherCardPaysAtOnceAndThePageIsEndedFirst(isSaved: Bool) async throws {
        try await withOwed { store, id, card in
            let other: PaymentMethod? = try await isSaved ? store.save() : nil
            let charges = store.standIn.entries.count
            let page = try await store.ask(for: id, by: card)
            if let other {
                _ = try await store.decideToPay(for: id, by: other)
            } else {
                let setup = try await store.confirmedSetup()
                let methods = store.dunningMethods
                // The app and Stripe tell of it.
                for _ in 0..<2 {
                    #expect(try await methods.complete(setup, for: alice.accountKey) == .saved)
                }
            }
            // Nobody can confirm the page any more.
            #expect(throws: (any Error).self) {
                try store.standIn.end(payment: page, succeeds: true)
            }
            await store.carryOut()
            try await store.recover(after: .seconds(3600))
            let paid = try await store.subscription()
            #expect(paid.state == .active && paid.charge == nil && paid.renewalProblem == nil)
            #expect(store.standIn.entries.count == charges + 1)
        }
    }

    @Test func aPageThatStripeDoesNotEndStays() async throws {
        try await withOwed { store, id, card in
            let other = try await store.save()
            let charges = store.standIn.entries.count
            let page = try await store.ask(for: id, by: card)
            store.standIn.inject(StandInFault(.down, path: "/v1/payment_intents/\(page)"))
            _ = try await store.decideToPay(for: id, by: other)
            #expect(store.pending.take().isEmpty)
            try store.standIn.end(payment: page, succeeds: true)
            try await store.recover(after: .seconds(3600))
            #expect(try await store.subscription().state == .active)
            #expect(store.standIn.entries.count == charges + 1)
        }
    }

    /// Without the charge, which delays the end of billing retry, no card could be charged any more.
    @Test(arguments: [true, false])
    func aPageThatAloneKeepsTheSubscriptionStays(isSaved: Bool) async throws {
        try await withOwed { store, id, card in
            let other: PaymentMethod? = try await isSaved ? store.save() : nil
            let charges = store.standIn.entries.count
            let minute = Duration.seconds(60)
            let end = try #require(try await store.subscription().billingRetryEnd)
            store.clock.advance(by: end.duration(since: store.clock.now()) - minute)
            let page = try await store.ask(for: id, by: card)
            store.clock.advance(by: .seconds(120))
            if let other {
                _ = try await store.decideToPay(for: id, by: other)
            } else {
                let setup = try await store.confirmedSetup()
                let saved = try await store.dunningMethods.complete(setup, for: alice.accountKey)
                #expect(saved == .saved)
            }
            #expect(store.pending.take().isEmpty)
            try store.standIn.end(payment: page, succeeds: true)
            guard case .nothingToDo = try await store.owedAction(of: id) else {
                return #expect(Bool(false), "The buyer would have to act again.")
            }
            #expect(try await store.subscription().state == .active)
            #expect(store.standIn.entries.count == charges + 1)
        }
    }

    /// Runs a test with a subscription that its card pays only while its buyer is present.
    private func withOwed(
        _ body: @escaping @Sendable (StripeStore, TransactionID, PaymentMethod) async throws -> Void
    ) async throws {
        try await withStripeStore { store in
            let card = try await store.save("pm_card_authenticationRequired")
            let first = try await store.subscribe(by: card)
            let page = try #require(try await store.charge(of: first.id).reference).rawValue
            try store.standIn.end(payment: page, succeeds: true)
            try await store.recover(after: .seconds(60))
            let end = try #require(try await store.load(first.id).subscription?.end)
            store.clock.advance(by: end.duration(since: store.clock.now()))
            try await store.renew()
            let owed = try await store.subscription()
            #expect(owed.state == .inBillingRetryPeriod && owed.renewalProblem == .buyerMustAct)
            try await body(store, first.id, card)
        }
    }
}

extension StripeStore {
    /// Asks, as the buyer, to pay what a subscription owes by a card.
    fileprivate func decideToPay(
        for id: TransactionID,
        by card: PaymentMethod
    ) async throws -> SubscriptionHandler.Reply {
        let handler = SubscriptionHandler(
            context: runner.context,
            products: ProductStore(),
            mayPay: { _, _, _ in true },
            renewals: renewals,
            endCharges: { [runner] in await runner.end($0) },
            didCommit: {}
        )
        return try await handler.decide(
            .method(card),
            on: id,
            by: alice.accountKey,
            trace: .begin()
        )
    }

    /// Asks to pay what a subscription owes, and has Stripe called.
    ///
    /// - Returns: The payment that waits for its buyer.
    fileprivate func ask(for id: TransactionID, by card: PaymentMethod) async throws -> String {
        _ = try await decideToPay(for: id, by: card)
        await carryOut()
        guard case .act(let action, _) = try await owedAction(of: id) else {
            throw PaymentError(.unknownRow)
        }
        return String(try #require(action.url.split(separator: "/").last))
    }

    /// The page on which the buyer has to act to pay what a subscription owes.
    fileprivate func owedAction(of id: TransactionID) async throws -> BuyerActionHandler.Reply {
        try await actions.action(ofSubscription: id, of: alice.accountKey)
    }
}

import EventTypes
import Postgres
import ServiceKit
import StoreAPI
import Stripe
import StripeStandIn
import TestSupport
import Testing

@testable import Payments

/// Saved cards that are removed, refused for good, or replaced by their banks.
@Suite(.timeLimit(.minutes(10))) struct CardTests {
    @Test func aRemovedCardPaysForNothing() async throws {
        try await withStripeStore { store in
            let card = try await store.save()
            #expect(try await !store.methods.remove(card, of: bob.accountKey))
            #expect(try await store.methods.methods(of: alice.accountKey).count == 1)
            // The second removal is that of an answer that was lost.
            for _ in 0..<2 {
                #expect(try await store.methods.remove(card, of: alice.accountKey))
            }
            #expect(try await store.methods.methods(of: alice.accountKey) == [])
            await #expect(throws: PaymentRefusal.paymentMethodUnknown) {
                try await store.add(by: card)
            }
            #expect(try await store.renew(by: card) == .declined(.paymentDeclined, advice: .never))
            #expect(store.standIn.entries.isEmpty)
        }
    }

    @Test func aRemovalThatStripeDoesNotAnswerIsNone() async throws {
        try await withStripeStore { store in
            let card = try await store.save()
            store.standIn.inject(StandInFault(.down, path: "/v1/payment_methods"))
            await #expect(throws: StripeFailure.self) {
                try await store.methods.remove(card, of: alice.accountKey)
            }
            #expect(try await store.methods.methods(of: alice.accountKey).count == 1)
        }
    }

    @Test(arguments: ["pm_card_visa_chargeDeclinedLostCard", "pm_card_chargeDeclinedFraudulent"])
    func aCardThatIsRefusedForGoodIsNeverTriedAgain(name: String) async throws {
        try await withStripeStore { store in
            let card = try await store.save(name)
            let bought = try await store.buy(by: card)
            #expect(bought.state == .failed)
            let calls = store.standIn.paymentCalls
            #expect(try await store.renew(by: card) == .declined(.paymentDeclined, advice: .never))
            #expect(store.standIn.paymentCalls == calls)

            try store.standIn.replaceCard(of: card.rawValue)
            try await store.hearEvents()
            let saved = try await store.methods.methods(of: alice.accountKey)
            #expect(saved.map(\.lastFour) == ["1881"])
            guard case .charged(_, let amount) = try await store.renew(by: card) else {
                throw PaymentError(.unknownRow)
            }
            #expect(amount == usd(999))
        }
    }

    @Test func anEventThatTellsNothingNewOfARefusedCardHasItNotTriedAgain() async throws {
        try await withStripeStore { store in
            let card = try await store.save("pm_card_visa_chargeDeclinedLostCard")
            _ = try await store.buy(by: card)
            let calls = store.standIn.paymentCalls
            // As an event that was applied before a kill is applied again.
            try await store.methods.refresh(card.rawValue, at: store.account)
            #expect(try await store.renew(by: card) == .declined(.paymentDeclined, advice: .never))
            #expect(store.standIn.paymentCalls == calls)
        }
    }

    @Test func ofTwoCardsThatAreSavedAtOnceOneIsChargedForWhatIsOwed() async throws {
        try await withStripeStore { store in
            try await store.owe()
            let methods = store.dunningMethods
            let setups = [try await store.confirmedSetup(), try await store.confirmedSetup()]
            try await withThrowingTaskGroup(of: PaymentMethodHandler.Completion.self) { group in
                // The app and Stripe tell of each.
                for setup in setups + setups {
                    group.addTask { try await methods.complete(setup, for: alice.accountKey) }
                }
                for try await completion in group { #expect(completion == .saved) }
            }
            await store.carryOut()
            #expect(store.standIn.entries.map(\.kind) == ["charge", "charge"])
            #expect(try await store.subscription().state == .active)
        }
    }

    @Test func aCardThatIsSavedAfterATryBeforeTheEndHasFailedPaysTheNextOne() async throws {
        try await withStripeStore { store in
            let first = try await store.subscribe(
                by: try await store.save("pm_standInDeclinedAway")
            )
            let end = try #require(try await store.load(first.id).subscription?.end)
            store.clock.advance(by: end.duration(since: store.clock.now()) - .seconds(86_400))
            try await store.renew()
            #expect(try await store.subscription().renewalProblem == .billing)
            let setup = try await store.confirmedSetup()
            let saved = try await store.dunningMethods.complete(setup, for: alice.accountKey)
            #expect(saved == .saved)
            await store.carryOut()
            #expect(store.standIn.entries.map(\.kind) == ["charge"])
            store.clock.advance(by: .seconds(43_200))
            try await store.renew()
            #expect(store.standIn.entries.map(\.kind) == ["charge", "charge"])
            #expect(try await store.subscription().renewalProblem == nil)
        }
    }

    @Test func aSixthCardOfADayPaysAtTheNextTry() async throws {
        try await withStripeStore { store in
            try await store.owe()
            for number in 0...AskedTries.dailyMax {
                let name = number < AskedTries.dailyMax ? "pm_standInDeclinedAway" : "pm_card_visa"
                let setup = try await store.confirmedSetup(of: name)
                let saved = try await store.dunningMethods.complete(setup, for: alice.accountKey)
                #expect(saved == .saved)
                await store.carryOut()
            }
            #expect(try await store.subscription().state == .inBillingRetryPeriod)
            #expect(store.standIn.entries.map(\.kind) == ["charge"])
            store.clock.advance(by: .seconds(86_400))
            try await store.renew()
            #expect(try await store.subscription().state == .active)
            #expect(store.standIn.entries.map(\.kind) == ["charge", "charge"])
        }
    }

    @Test func aCardThatIsReplacedWhileARetryIsDueIsChargedOnce() async throws {
        try await withStripeStore { store in
            let card = try await store.owe()
            store.clock.advance(by: .seconds(86_400))
            try store.standIn.replaceCard(of: card.rawValue)
            let (methods, renewals) = (store.dunningMethods, store.renewals)
            let account = store.account
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask { try await methods.refresh(card.rawValue, at: account) }
                    group.addTask { _ = try await renewals.carryOut(limit: 10) }
                }
                try await group.waitForAll()
            }
            await store.carryOut()
            #expect(store.standIn.entries.map(\.kind) == ["charge", "charge"])
            #expect(try await store.subscription().state == .active)
        }
    }

    @Test func aRenewalThatMayHaveBeenChargedIsAskedForAgainByARemovedCard() async throws {
        try await withStripeStore { store in
            let card = try await store.save()
            let key = store.renewalKey
            guard case .charged = try await store.renew(by: card, key) else {
                throw PaymentError(.unknownRow)
            }
            #expect(try await store.methods.remove(card, of: alice.accountKey))
            let again = try await store.renew(by: card, key, isRepeated: true)
            guard case .charged(_, let amount) = again else {
                Issue.record("\(again)")
                return
            }
            #expect(amount == usd(999))
            #expect(store.standIn.entries.map(\.kind) == ["charge"])
        }
    }

    @Test func aRenewalForWhichTheBankWantsToSeeTheBuyerSaysSo() async throws {
        try await withStripeStore { store in
            let card = try await store.save("pm_card_authenticationRequired")
            let first = try await store.subscribe(by: card)
            let page = try #require(try await store.charge(of: first.id).reference).rawValue
            try store.standIn.end(payment: page, succeeds: true)
            try await store.recover(after: .seconds(60))
            let end = try #require(try await store.load(first.id).subscription?.end)
            store.clock.advance(by: end.duration(since: store.clock.now()) - .seconds(86_400))
            try await store.renew()
            let renewal = try await store.newest()
            #expect(renewal.reason == .renewal && renewal.state == .failed)
            #expect(renewal.failureReason == .buyerMustAct)
            #expect(try await store.charge(of: renewal.id).advice == .authenticate)
            let subscription = try await store.subscription()
            #expect(subscription.renewalProblem == .buyerMustAct && subscription.state == .active)
            #expect(store.standIn.entries.map(\.kind) == ["charge"])
        }
    }

    @Test func aCardThatIsOnlyEmptyIsTriedAgain() async throws {
        try await withStripeStore { store in
            let card = try await store.save("pm_card_visa_chargeDeclinedInsufficientFunds")
            _ = try await store.buy(by: card)
            let calls = store.standIn.paymentCalls
            #expect(
                try await store.renew(by: card) == .declined(.insufficientFunds, advice: .later)
            )
            #expect(store.standIn.paymentCalls == calls + 1)
        }
    }
}

extension StripeStore {
    /// Sells a subscription, and begins to pay for it.
    func subscribe(by card: PaymentMethod) async throws -> Transaction {
        try await sell(club())
        let added = try await add(by: card, for: "club", at: usd(299))
        await carryOut()
        return added
    }

    /// Sells a subscription whose next period cannot be charged.
    ///
    /// - Returns: The card that pays while its buyer is there only.
    @discardableResult
    fileprivate func owe() async throws -> PaymentMethod {
        let card = try await save("pm_standInDeclinedAway")
        let first = try await subscribe(by: card)
        let end = try #require(try await load(first.id).subscription?.end)
        clock.advance(by: end.duration(since: clock.now()))
        try await renew()
        #expect(try await subscription().state == .inBillingRetryPeriod)
        #expect(standIn.entries.map(\.kind) == ["charge"])
        return card
    }

    /// Carries out the attempts that were begun.
    func carryOut() async {
        await runner.carryOut(pending.take())
        await runner.drain()
    }

    /// Charges for the next periods of subscriptions.
    var renewals: RenewalHandler {
        RenewalHandler(
            context: runner.context,
            products: ProductStore(),
            tax: TaxRates(),
            didCommit: { [pending] in pending.append($0) }
        )
    }

    /// Saves cards, and charges them for what is owed.
    var dunningMethods: PaymentMethodHandler {
        var methods = self.methods
        methods.dunning = DunningHandler(renewals: renewals) { [runner] in await runner.end($0) }
        return methods
    }

    /// Begins to save a card, which the buyer gives to Stripe.
    ///
    /// - Returns: The setup, which the store has not completed.
    func confirmedSetup(of card: String = "pm_card_visa") async throws -> String {
        let setup = try await methods.begin(for: alice.accountKey)
        try await post("/v1/setup_intents/\(setup.id)/confirm", "payment_method=\(card)")
        return setup.id
    }

    /// Carries out what is due for subscriptions, and the charges that follow.
    func renew() async throws {
        while try await renewals.carryOut(limit: 10) > 0 { await carryOut() }
    }

    /// The transaction that was begun last.
    func newest() async throws -> Transaction {
        let number = try await client.withConnection { connection in
            let rows = try connection.query("SELECT max(id) FROM transactions")
            return try #require(rows.first).decode(Int64.self)
        }
        return try await load(TransactionID(number: number))
    }

    /// The subscription of alice.
    func subscription() async throws -> Subscription {
        let key = SubscriptionKey(
            accountID: alice.accountID,
            bundleID: alice.bundleID,
            groupID: SubscriptionGroupID(unchecked: "clubs")
        )
        let row = try await client.withConnection { connection in
            try connection.read(SubscriptionStore.reading([key])).first
        }
        return try #require(row?.subscription)
    }
}

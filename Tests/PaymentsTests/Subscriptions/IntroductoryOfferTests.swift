import EventTypes
import Ledger
import ServiceKit
import StoreAPI
import StoreTracing
import TestSupport
import Testing

@testable import Payments

/// Purchases and renewals with an introductory offer (rules S40 to S46).
@Suite(.timeLimit(.minutes(10))) struct IntroductoryOfferTests {
    @discardableResult
    private func buy(
        _ store: Store,
        _ product: String = "club",
        price: Money = usd(299),
        method: SandboxPaymentMethod = .success,
        key: String
    ) async throws -> Transaction {
        try await store.buy(request(product, price: price, method: method), key: key)
    }

    // MARK: - The modes

    @Test func aTrialCostsNothingAndTheNextPeriodIsCharged() async throws {
        try await withStore { store in
            try await store.sell(club(offer: freeWeek))
            let trial = try await buy(store, key: "1")
            #expect(trial.state == .purchased && trial.price == usd(0))
            #expect(trial.subscription?.offer?.mode == .freeTrial)
            #expect(trial.subscription?.renewalPrice == usd(299))
            #expect(trial.subscription?.end == startTime.advanced(by: .seconds(7 * 86_400)))
            #expect(try await store.count("processor_attempts") == 0)
            #expect(try await store.introductoryID() == trial.id)
            #expect(try await store.subscription().nextPrice == usd(299))
            try await store.advance(days: 7)
            let all = try await store.transactions()
            #expect(all.map(\.price) == [usd(0), usd(299)])
            #expect(all[1].subscription?.start == trial.subscription?.end)
            #expect(all[1].subscription?.offer == nil && all[1].subscription?.renewalPrice == nil)
            try await store.expectNothingLost()
        }
    }

    @Test func payAsYouGoIsChargedForEachOfItsPeriods() async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths))
            let first = try await buy(store, key: "1")
            #expect(first.price == usd(99) && first.subscription?.renewalPrice == usd(299))
            // The account keeps the offer that it has.
            try await store.sell(club(version: 2))
            try await store.advance(days: 120)
            let all = try await store.transactions()
            #expect(all.map(\.price) == [usd(99), usd(99), usd(99), usd(299), usd(299)])
            #expect(all.map { $0.subscription?.offer?.number } == [1, 2, 3, nil, nil])
            #expect(all.allSatisfy { $0.state == .purchased })
            #expect(try await store.introductoryID() == first.id)
            try await store.expectNothingLost()
        }
    }

    @Test func payUpFrontIsOneChargeForItsWholeLength() async throws {
        try await withStore { store in
            var offer = threeMonths
            offer.mode = .payUpFront
            offer.period = SubscriptionPeriod(6, .month)
            offer.numberOfPeriods = 1
            offer.prices = [Storefront(unchecked: "USA"): usd(999)]
            try await store.sell(club(offer: offer))
            let first = try await buy(store, key: "1")
            #expect(first.price == usd(999))
            try await store.advance(days: 185)
            #expect(try await store.transactions().map(\.price) == [usd(999), usd(299)])
            try await store.expectNothingLost()
        }
    }

    // MARK: - Once per account and group

    @Test func ofTwoPaymentsAtOnceOneGetsTheOffer() async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths), club("gold", offer: threeMonths))
            let first = try await store.add(request("club", price: usd(299)), key: "1")
            let second = try await store.add(request("gold", price: usd(299)), key: "2")
            #expect([first.price, second.price] == [usd(99), usd(299)])
            try await store.settle()
            let states = [try await store.load(first.id), try await store.load(second.id)]
            #expect(states.map(\.state) == [.purchased, .failed])
            #expect(try await store.introductoryID() == first.id)
            try await store.expectNothingLost()
        }
    }

    /// Many processes accept payments of one account.
    @Test func ofManyPaymentsAtOnceOneGetsTheOffer() async throws {
        try await withStore(poolSize: 8) { store in
            try await store.sell(club(offer: threeMonths))
            let prices = try await withThrowingTaskGroup(of: Money.self) { group in
                for number in 1...16 {
                    group.addTask {
                        try await store.add(request("club", price: usd(299)), key: "\(number)")
                            .price
                    }
                }
                return try await group.reduce(into: [Money]()) { $0.append($1) }
            }
            #expect(prices.count { $0 == usd(99) } == 1)
            #expect(prices.count { $0 == usd(299) } == 15)
            try await store.settle()
            #expect(try await store.transactions().count { $0.state == .purchased } == 1)
            try await store.expectNothingLost()
        }
    }

    /// The payment with the offer is charged after another one has begun the subscription.
    @Test func aPaymentThatComesTooLateGivesTheOfferBack() async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths))
            let first = try await store.add(request("club", price: usd(299)), key: "1")
            let attempt = store.pending.take()
            let second = try await store.add(request("club", price: usd(299)), key: "2")
            try await store.settle()
            await store.runner.carryOut(attempt)
            try await store.settle()
            let states = [try await store.load(first.id), try await store.load(second.id)]
            #expect(states.map(\.state) == [.failed, .purchased])
            #expect(try await store.postings(of: first.id) == [.strayCharge, .strayChargeReturn])
            #expect(try await store.introductoryID() == nil)
            try await store.expectNothingLost()
        }
    }

    @Test(arguments: [SandboxPaymentMethod.decline, .cancelled, .interrupted])
    func aFailedPaymentGivesTheOfferBack(method: SandboxPaymentMethod) async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths))
            let failed = try await buy(store, method: method, key: "1")
            #expect(failed.state == .failed && failed.price == usd(99))
            #expect(try await store.introductoryID() == nil)
            let bought = try await buy(store, key: "2")
            #expect(bought.price == usd(99))
            #expect(try await store.introductoryID() == bought.id)
            try await store.expectNothingLost()
        }
    }

    /// The approval is given, declined, or never comes.
    @Test(arguments: [ApprovalRequest.Decision.approve, .decline, nil])
    func aPaymentThatWaitsForApprovalHoldsTheOffer(
        decision: ApprovalRequest.Decision?
    ) async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths))
            let asked = try await buy(store, method: .needsApproval, key: "1")
            #expect(asked.state == .deferred)
            #expect(try await store.introductoryID() == asked.id)
            let other = try await buy(store, method: .decline, key: "2")
            #expect(other.price == usd(299))
            if let decision {
                _ = try await store.approvals.decide(decision, on: asked.id)
                try await store.settle()
            } else {
                try await store.recover(after: .seconds(25 * 3600))
            }
            let isApproved = decision == .approve
            #expect(try await store.load(asked.id).state == (isApproved ? .purchased : .failed))
            #expect(try await store.introductoryID() == (isApproved ? asked.id : nil))
        }
    }

    @Test func aFreeTrialIsNotForThoseWhoHaveToAsk() async throws {
        try await withStore { store in
            try await store.sell(club(offer: freeWeek))
            let asked = try await buy(store, method: .needsApproval, key: "1")
            #expect(asked.state == .deferred && asked.price == usd(299))
            #expect(try await store.introductoryID() == nil)
            _ = try await store.approvals.decide(.approve, on: asked.id)
            try await store.settle()
            #expect(try await store.load(asked.id).state == .purchased)
            try await store.expectNothingLost()
        }
    }

    @Test func anAccountHasOneOfferInAGroup() async throws {
        try await withStore { store in
            try await store.sell(club(offer: freeWeek), club("gold", offer: threeMonths))
            let trial = try await buy(store, key: "1")
            try await store.lapse()
            let again = try await buy(store, "gold", key: "2")
            #expect(again.price == usd(299) && again.subscription?.offer == nil)
            #expect(try await store.introductoryID() == trial.id)
            try await store.expectNothingLost()
        }
    }

    @Test func aRefundDoesNotGiveTheOfferBack() async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths))
            let first = try await buy(store, key: "1")
            _ = try await store.refunds.refund(first.id, trace: .begin())
            #expect(try await store.subscription().state == .revoked)
            #expect(try await buy(store, key: "2").price == usd(299))
            #expect(try await store.introductoryID() == first.id)
        }
    }

    @Test func whoseSubscriptionRunsHasNoOffer() async throws {
        try await withStore { store in
            try await store.sell(club("silver", level: 2), club("gold", offer: threeMonths))
            try await buy(store, "silver", key: "1")
            let gold = try await buy(store, "gold", key: "2")
            #expect(gold.price == usd(299) && gold.state == .purchased)
            #expect(try await store.introductoryID() == nil)
            try await store.lapse()
            // Who has paid the ordinary price so far may have the offer after the end.
            #expect(try await buy(store, "gold", key: "3").price == usd(99))
            try await store.expectNothingLost()
        }
    }

    private func mayHave(
        _ store: Store,
        _ account: AuthenticatedAccount = alice
    ) async throws -> Bool {
        try await store.subscriptions.mayHaveIntroductoryOffer(
            of: SubscriptionGroupID(unchecked: "clubs"),
            AccountKey(accountID: account.accountID, bundleID: account.bundleID)
        )
    }

    @Test func theStoreSaysWhoMayHaveTheOffer() async throws {
        try await withStore { store in
            try await store.sell(club("silver", level: 2), club("gold", offer: freeWeek))
            #expect(try await mayHave(store))
            try await buy(store, "silver", key: "1")
            // It runs at the ordinary price.
            #expect(try await mayHave(store) == false)
            try await store.lapse()
            #expect(try await mayHave(store))
            try await buy(store, "gold", key: "2")
            try await store.lapse()
            #expect(try await mayHave(store) == false)
            #expect(try await mayHave(store, bob))
        }
    }

    // MARK: - The price that the buyer saw

    @Test func aBuyerMayNameThePriceOfTheOfferWhileTheyMayHaveIt() async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths))
            let first = try await buy(store, price: usd(99), key: "1")
            #expect(first.price == usd(99) && first.state == .purchased)
            try await store.lapse()
            await #expect(throws: PaymentRefusal.stalePrice(current: usd(299))) {
                try await buy(store, price: usd(99), key: "2")
            }
        }
    }

    @Test func noOfferIsMadeInAnotherStorefront() async throws {
        try await withStore { store in
            var product = club(offer: threeMonths)
            let euros = Money(minorUnits: 299, currency: Currency(unchecked: "EUR"))
            product.prices[Storefront(unchecked: "FRA")] = euros
            try await store.sell(product)
            let bought = try await store.buy(
                request("club", storefront: "FRA", price: euros),
                key: "1"
            )
            #expect(bought.price == euros && bought.subscription?.offer == nil)
        }
    }

    @Test func aRepeatedRequestGetsTheSameAnswer() async throws {
        try await withStore { store in
            try await store.sell(club(offer: freeWeek))
            let first = try await store.add(request("club", price: usd(299)), key: "1")
            let second = try await store.add(request("club", price: usd(299)), key: "1")
            #expect(first == second && first.price == usd(0))
            #expect(try await store.count("transactions") == 1)
        }
    }

    // MARK: - Resumptions

    private func resume(_ id: TransactionID, _ store: Store) async throws -> ResumptionReply {
        let method = SandboxPaymentMethod.success.method
        return try await store.resumptions.resume(id, by: method)
    }

    private func expectRefusal(
        of failed: Transaction,
        _ store: Store,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        guard case .refused(let refusal) = try await resume(failed.id, store) else {
            return #expect(Bool(false), sourceLocation: location)
        }
        #expect(refusal == .stalePrice(current: usd(299)), sourceLocation: location)
    }

    @Test func anInterruptedPaymentIsResumedWithItsOffer() async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths))
            let failed = try await buy(store, method: .interrupted, key: "1")
            guard case .resumed(let resumed) = try await resume(failed.id, store) else {
                return #expect(Bool(false))
            }
            #expect(resumed.price == usd(99) && resumed.subscription?.offer?.number == 1)
            #expect(try await store.introductoryID() == resumed.id)
            try await store.settle()
            try await store.advance(days: 31)
            #expect(try await store.transactions().map(\.price) == [usd(99), usd(99), usd(99)])
            try await store.expectNothingLost()
        }
    }

    @Test func anOfferThatIsGoneIsNotResumed() async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths))
            let failed = try await buy(store, method: .interrupted, key: "1")
            var dearer = threeMonths
            dearer.prices = [Storefront(unchecked: "USA"): usd(199)]
            try await store.sell(club(version: 2, offer: dearer))
            try await expectRefusal(of: failed, store)
            try await buy(store, key: "2")
            try await store.lapse()
            try await expectRefusal(of: failed, store)
            #expect(try await store.count("resumptions") == 0)
        }
    }

    @Test func anOfferBeforeADearerPriceIsNotResumed() async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths))
            let failed = try await buy(store, method: .interrupted, key: "1")
            try await store.sell(club(price: usd(999), version: 2, offer: threeMonths))
            guard case .refused(let refusal) = try await resume(failed.id, store) else {
                return #expect(Bool(false))
            }
            #expect(refusal == .stalePrice(current: usd(999)))
        }
    }
}

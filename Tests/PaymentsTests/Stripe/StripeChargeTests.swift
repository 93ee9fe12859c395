import EventTypes
import Postgres
import ServiceKit
import StoreAPI
import Stripe
import StripeStandIn
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// Charges at a stand-in for Stripe.
@Suite(.timeLimit(.minutes(10))) struct StripeChargeTests {
    @Test func aPurchaseIsChargedOnce() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save())
            #expect(bought.state == .purchased)
            #expect(store.standIn.entries.map(\.amount) == [999])
            let charge = try await store.charge(of: bought.id)
            #expect(charge.reference?.rawValue.hasPrefix("pi_") == true)
            #expect(store.standIn.entries.map(\.attempt) == ["\(charge.id)"])
        }
    }

    @Test func aBuyerComesBackToTheAddressOfTheirApp() async throws {
        try await withStripeStore { store in
            let card = try await store.save("pm_card_threeDSecure2Required")
            let cases: [([BundleID: String], String)] = [
                ([:], "https://app.example.com/back"),
                ([alice.bundleID: "acme-chess://back"], "acme-chess://back"),
            ]
            for (urls, expected) in cases {
                let account = try StripeStore.account(
                    client: store.client,
                    url: store.url,
                    clock: store.clock,
                    returnURLs: urls
                )
                let found = Mutex<ProcessorReference?>(nil)
                let request = ChargeRequest(
                    key: store.renewalKey,
                    paymentMethod: card,
                    amount: usd(999),
                    isApproved: true
                )
                await account.processor.charge([request]) { _, outcome in
                    guard case .needsAction(_, let reference) = outcome else { return }
                    found.withLock { $0 = reference }
                }
                await account.client.shutDown()
                let payment = try #require(found.withLock { $0 })
                #expect(store.standIn.returnURL(ofPayment: payment.rawValue) == expected)
            }
        }
    }

    @Test func nobodyPaysWithAnothersCard() async throws {
        try await withStripeStore { store in
            let card = try await store.save(of: bob)
            await #expect(throws: PaymentRefusal.paymentMethodUnknown) {
                try await store.add(by: card)
            }
            await #expect(throws: PaymentRefusal.paymentMethodUnknown) {
                try await store.add(by: "pm_card_visa")
            }
            #expect(try await store.counts("transactions", "processor_attempts") == [0, 0])
            #expect(store.standIn.entries.isEmpty)
        }
    }

    @Test(arguments: [
        ("pm_card_chargeDeclined", FailureReason.paymentDeclined, DeclineAdvice.later),
        (
            "pm_card_visa_chargeDeclinedInsufficientFunds", .insufficientFunds, .later
        ),
        ("pm_card_visa_chargeDeclinedLostCard", .paymentDeclined, .never),
        ("pm_card_chargeDeclinedExpiredCard", .paymentDeclined, .otherMethod),
    ])
    func aDeclineFailsThePaymentAndNothingCanBeConfirmedLater(
        card: String,
        reason: FailureReason,
        advice: DeclineAdvice
    ) async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save(card))
            #expect(bought.state == .failed && bought.failureReason == reason)
            let charge = try await store.charge(of: bought.id)
            #expect(charge.advice == advice)
            #expect(try await store.intents(of: charge).map(\.status) == [.canceled])
        }
    }

    @Test(arguments: [
        StandInFault.Kind.lostBefore, .lostAfter, .lostMidway, .errorAfter, .down, .rateLimit,
        .lockTimeout, .stalled,
    ])
    func afterAFaultThePurchaseIsChargedOnce(fault: StandInFault.Kind) async throws {
        // A call that stalls is waited for until its time is over.
        try await withStripeStore(timeout: .seconds(fault == .stalled ? 30 : 60)) { store in
            let card = try await store.save()
            store.standIn.inject(StandInFault(fault, path: "/v1/payment_intents", method: "POST"))
            let bought = try await store.buy(by: card)
            for _ in 0..<4 where try await store.load(bought.id).state == .purchasing {
                try await store.recover()
            }
            #expect(try await store.load(bought.id).state == .purchased)
            #expect(store.standIn.entries.map(\.amount) == [999])
        }
    }

    /// The first call fails with an error that Stripe keeps, and the others are told it again.
    ///
    /// Stripe says that it may have charged all the same. Under another key it would charge twice.
    @Test func aChargeUnderAKeptErrorIsNotMadeUnderAnotherKey() async throws {
        try await withStripeStore { store in
            let card = try await store.save()
            store.standIn.inject(
                StandInFault(.errorBefore, path: "/v1/payment_intents", method: "POST")
            )
            let bought = try await store.buy(by: card)
            for _ in 0..<4 { try await store.recover() }
            #expect(try await store.load(bought.id).state == .purchasing)
            try await store.recover(after: SpentKeys.doubt)
            #expect(try await store.load(bought.id).failureReason == .processorRefused)
            #expect(try await store.charge(of: bought.id).generation == 1)
            #expect(store.standIn.entries.isEmpty)
        }
    }

    /// A rebuild from the log brings no payment methods back.
    @Test func aBuyerWhomStripeHasNoMoreIsDeclined() async throws {
        try await withStripeStore { store in
            let card = try await store.save()
            store.standIn.removeCustomers()
            let bought = try await store.buy(by: card)
            #expect(bought.state == .failed && bought.failureReason == .paymentDeclined)
            #expect(try await store.charge(of: bought.id).advice == .otherMethod)
            #expect(store.standIn.entries.isEmpty)
        }
    }

    @Test func withoutTheTableOfMethodsAChargeWaitsForIt() async throws {
        try await withStripeStore { store in
            let added = try await store.add(by: try await store.save())
            let saved = store.pending.take().map { attempt in
                var attempt = attempt
                attempt.paymentMethod = "pm_lost"
                return attempt
            }
            await store.runner.carryOut(saved)
            #expect(try await store.load(added.id).state == .purchasing)
            try await store.recover(after: StripeProcessor.mistakePause)
            #expect(try await store.load(added.id).state == .purchased)
            #expect(store.standIn.entries.map(\.amount) == [999])
        }
    }

    /// Events bring objects of any generation.
    @Test(arguments: ["pm_card_visa", "pm_card_chargeDeclined"])
    func aPaymentUnderAnEarlierKeyCountsOnlyIfItWasPaid(card: String) async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save(card))
            let charge = try await store.charge(of: bought.id)
            let made = try #require(try await store.intents(of: charge).first)
            let inquiry = Inquiry(
                key: CallKey(attemptID: charge.id, kind: .charge, generation: 2),
                reference: ProcessorReference(rawValue: made.id),
                paymentMethod: charge.paymentMethod,
                firstCalledAt: charge.firstCalledAt
            )
            let found = try await store.inquire(inquiry)
            if made.status == .succeeded {
                let reference = ProcessorReference(rawValue: made.id)
                #expect(found == .charged(reference: reference, amount: usd(999)))
            } else {
                #expect(found == .notFound(isFinal: false))
            }
        }
    }

    @Test func anInquiryIsFinalOnlyWhenStripeHasForgottenTheKey() async throws {
        try await withStripeStore { store in
            let card = try await store.save()
            let added = try await store.add(by: card)
            let inquiry = Inquiry(try await store.charge(of: added.id))
            #expect(try await store.inquire(inquiry) == .notFound(isFinal: false))
            store.clock.advance(by: .seconds(23 * 3600))
            #expect(try await store.inquire(inquiry) == .notFound(isFinal: true))
        }
    }

    /// Stripe takes no call for nearly a day, and the first one that it takes is lost.
    @Test func afterALongWaitALostCallIsRepeatedUnderItsKey() async throws {
        try await withStripeStore { store in
            let card = try await store.save()
            for fault in [StandInFault.Kind.rateLimit, .lostBefore] {
                store.standIn.inject(
                    StandInFault(fault, path: "/v1/payment_intents", method: "POST")
                )
            }
            let bought = try await store.buy(by: card)
            try await store.recover(after: .seconds(23 * 3600))
            #expect(try await store.charge(of: bought.id).callCount == 1)
            try await store.recover()
            #expect(try await store.load(bought.id).state == .purchased)
            #expect(try await store.charge(of: bought.id).generation == 1)
        }
    }

    @Test func theBuyerIsToldThePageAndThenHasPaid() async throws {
        try await withStripeStore { store in
            let card = try await store.save("pm_card_threeDSecure2Required")
            let bought = try await store.buy(by: card)
            let charge = try await store.charge(of: bought.id)
            #expect(bought.awaitsBuyer == true && charge.step == .awaitingAction)
            let key = alice.accountKey
            guard case .act(let action, _) = try await store.actions.action(of: bought.id, of: key)
            else { throw PaymentError(.unknownRow) }
            let reference = try #require(charge.reference).rawValue
            #expect(action.url == "\(store.url)/authenticate/\(reference)")
            try store.standIn.end(payment: reference, succeeds: true)
            guard case .nothingToDo = try await store.actions.action(of: bought.id, of: key) else {
                throw PaymentError(.unknownRow)
            }
            let paid = try await store.load(bought.id)
            #expect(paid.state == .purchased && paid.awaitsBuyer == nil)
            #expect(store.paid == 999)
        }
    }

    @Test(arguments: [true, false])
    func whatTheBuyerLeavesIsEnded(isRefused: Bool) async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(
                by: try await store.save("pm_card_threeDSecure2Required")
            )
            let charge = try await store.charge(of: bought.id)
            if isRefused {
                let reference = try #require(charge.reference).rawValue
                try store.standIn.end(payment: reference, succeeds: false)
            }
            try await store.recover(after: .seconds(3601))
            let left = try await store.load(bought.id)
            #expect(left.state == .failed)
            #expect(left.failureReason == (isRefused ? .paymentDeclined : .interrupted))
            #expect(try await store.intents(of: charge).map(\.status) == [.canceled])
            #expect(store.standIn.entries.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func aPaymentThatIsProcessedEndsEitherWay(succeeds: Bool) async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save("pm_standInProcessing"))
            let charge = try await store.charge(of: bought.id)
            #expect(charge.step == .processing)
            try store.standIn.end(
                payment: try #require(charge.reference).rawValue,
                succeeds: succeeds
            )
            try await store.recover(after: .seconds(60))
            #expect(try await store.load(bought.id).state == (succeeds ? .purchased : .failed))
            #expect(store.paid == (succeeds ? 999 : 0))
        }
    }
}

extension StripeStore {
    /// Everything that the stand-in has for an attempt.
    func intents(of attempt: ProcessorAttempt) async throws -> [StripePaymentIntent] {
        let customers = try await client.withConnection {
            try PaymentMethodStore.customers(of: [attempt.paymentMethod], on: $0)
        }
        return try await stripe.paymentIntents(
            ofAttempt: "\(attempt.id)",
            customer: try #require(customers[attempt.paymentMethod]?.reference),
            firstCalled: MachineTime(millisecondsSinceEpoch: 0)
        )
    }

    /// Asks about one attempt.
    func inquire(_ inquiry: Inquiry) async throws -> InquiryOutcome {
        let found = Mutex<InquiryOutcome?>(nil)
        await processor.inquire([inquiry]) { _, outcome in found.withLock { $0 = outcome } }
        return try #require(found.withLock { $0 })
    }
}

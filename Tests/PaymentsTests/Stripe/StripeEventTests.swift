import EventTypes
import Postgres
import ServiceKit
import Stripe
import StripeStandIn
import TestSupport
import Testing

@testable import Payments

/// Events that a stand-in for Stripe tells by itself.
@Suite(.timeLimit(.minutes(10))) struct StripeEventTests {
    @Test func anEventThatComesTwiceIsStoredOnceAndChangesNothingTwice() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save("pm_standInProcessing"))
            let charge = try await store.charge(of: bought.id)
            let reference = try #require(charge.reference).rawValue
            try store.standIn.end(payment: reference, succeeds: true)
            let events = try await store.stripe.events(StripeListRequest()).data
            // Each comes three times, the newest first.
            for _ in 0..<3 { try await store.events.store(events) }
            try await store.applyEvents()
            for _ in 0..<3 { try await store.events.store(events) }
            try await store.applyEvents()
            #expect(try await store.load(bought.id).state == .purchased)
            // The setup, the begun charge, and its end.
            #expect(try await store.counts("processor_events", "ledger_postings") == [3, 1])
        }
    }

    @Test func whatTheAnswerHasToldIsNotAskedForAgain() async throws {
        try await withStripeStore { store in
            _ = try await store.buy(by: try await store.save())
            try await store.events.readList(pause: .seconds(300))
            let calls = store.standIn.calls
            try await store.applyEvents()
            // Only the setup is looked at, which takes two calls.
            #expect(store.standIn.calls == calls + 2)
        }
    }

    @Test func aRefundThatIsKnownIsNotAskedForAgain() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save("pm_card_pendingRefund"))
            _ = try await store.refunds.refund(bought.id)
            let charge = try #require(try await store.charge(of: bought.id).reference)
            let refund = try #require(
                try await store.stripe.refunds(of: charge.rawValue).data.first
            )
            try store.standIn.end(refund: refund.id, succeeds: true)
            try await store.recover(after: .seconds(60))
            try await store.events.readList(pause: .seconds(300))
            let calls = store.standIn.calls
            try await store.applyEvents()
            // Only the setup is looked at, which takes two calls.
            #expect(store.standIn.calls == calls + 2)
        }
    }

    @Test func aChargeThatTheStoreHadGivenUpIsReturned() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(
                by: try await store.save("pm_card_threeDSecure2Required")
            )
            let charge = try await store.charge(of: bought.id)
            // As if the answer to the end of the charge had been wrong.
            try await store.runner.settle(.declined(.paymentDeclined, advice: nil), of: charge)
            #expect(try await store.load(bought.id).state == .failed)
            let reference = try #require(charge.reference).rawValue
            try store.standIn.end(payment: reference, succeeds: true)
            try await store.events.readList(pause: .seconds(300))
            try await store.applyEvents()
            await store.runner.drain()
            #expect(store.standIn.entries.map(\.kind) == ["charge", "refund"])
            #expect(store.paid == 0)
        }
    }

    @Test func anEventIsLookedAtAgainWhenStripeDoesNotAnswer() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save("pm_standInProcessing"))
            let charge = try await store.charge(of: bought.id)
            let reference = try #require(charge.reference).rawValue
            try store.standIn.end(payment: reference, succeeds: true)
            try await store.events.readList(pause: .seconds(300))
            store.standIn.inject(StandInFault(.down, path: "/v1/payment_intents", count: 2))
            try await store.applyEvents()
            #expect(try await store.load(bought.id).state == .purchasing)
            try await store.applyEvents(after: .seconds(5))
            #expect(try await store.load(bought.id).state == .purchased)
        }
    }

    @Test func theListIsReadOnFromWhereItWasRead() async throws {
        try await withStripeStore { store in
            try await store.events.readList(pause: .seconds(300))
            _ = try await store.save()
            try await store.events.readList(pause: .seconds(300))
            #expect(try await store.counts("processor_events") == [0])
            store.clock.advance(by: .seconds(301))
            try await store.events.readList(pause: .seconds(300))
            #expect(try await store.counts("processor_events") == [1])
        }
    }

    @Test func aLongListIsReadInParts() async throws {
        try await withStripeStore { store in
            _ = try await store.save()
            let calls = store.standIn.calls
            try await store.events.readList(pause: .seconds(300))
            // An hour and the overlap, in parts of ten minutes.
            #expect(store.standIn.calls == calls + 7)
            #expect(try await store.counts("processor_events") == [1])
        }
    }

    @Test func onlyEventsOfTheKindsThatCountAreListed() async throws {
        try await withStripeStore { store in
            _ = try await store.buy(by: try await store.save())
            let all = try await store.stripe.events(StripeListRequest()).data
            let own = try await store.stripe.events(
                StripeListRequest(types: ProcessorEvent.types)
            ).data
            #expect(Set(own.map(\.type)) == ["setup_intent.succeeded", "payment_intent.succeeded"])
            #expect(own.count < all.count)
        }
    }

    @Test func aPlaceDoesNotMoveIfTheListCannotBeRead() async throws {
        try await withStripeStore { store in
            _ = try await store.save()
            store.standIn.inject(StandInFault(.down, path: "/v1/events"))
            await #expect(throws: StripeFailure.self) {
                try await store.events.readList(pause: .seconds(300))
            }
            store.clock.advance(by: .seconds(61))
            try await store.events.readList(pause: .seconds(300))
            #expect(try await store.counts("processor_events") == [1])
        }
    }

    /// Its database is from before the payments of which Stripe tells.
    @Test func aRestoredStoreLooksPastTheEventsOfPaymentsThatItHasLost() async throws {
        try await withStripeStore { lost in
            let slow = try await lost.save("pm_standInProcessing")
            let waiting = try await lost.buy(by: slow)
            let paid = try await lost.buy(by: try await lost.save(), key: "b")
            let disputed = try #require(try await lost.charge(of: paid.id).reference).rawValue
            try await withRestoredStore(of: lost) { restored in
                let own = try await restored.buy(by: try await restored.save(), key: "c")
                let reference = try #require(try await lost.charge(of: waiting.id).reference)
                try lost.standIn.end(payment: reference.rawValue, succeeds: true)
                try lost.standIn.dispute(payment: disputed)
                try await restored.hearEvents()
                // All are dealt with, and none of them changes anything.
                #expect(try await restored.counts("processor_events") != [0])
                #expect(
                    try await restored.counts(
                        "processor_events WHERE applied_at IS NULL",
                        "transactions",
                        "ledger_postings",
                        "processor_disputes"
                    ) == [0, 1, 1, 0]
                )
                #expect(try await restored.load(own.id) == own)
            }
        }
    }

    @Test func aMethodIsSavedEvenIfTheAppDoesNotComeBack() async throws {
        try await withStripeStore { store in
            let account = alice.accountKey
            let setup = try await store.methods.begin(for: account)
            try await store.post(
                "/v1/setup_intents/\(setup.id)/confirm",
                "payment_method=pm_card_visa"
            )
            try await store.events.readList(pause: .seconds(300))
            try await store.applyEvents()
            #expect(try await store.methods.methods(of: account).map(\.lastFour) == ["4242"])
        }
    }
}

extension StripeStore {
    /// Applies the events that are due after a time.
    func applyEvents(after duration: Duration = .seconds(2)) async throws {
        clock.advance(by: duration)
        while try await events.applyDue(limit: 10) > 0 {}
    }
}

/// Runs a test with a store at the same stand-in, on a database without the payments of another one.
private func withRestoredStore(
    of lost: StripeStore,
    _ body: @escaping @Sendable (StripeStore) async throws -> Void
) async throws {
    try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
        try await database.withClient(role: PaymentsMigrations.role, poolSize: 4) { client in
            let restored = try StripeStore(client: client, standIn: lost.standIn, url: lost.url)
            do {
                try await restored.sell(product())
                try await body(restored)
            } catch {
                await restored.stripe.shutDown()
                throw error
            }
            await restored.stripe.shutDown()
        }
    }
}

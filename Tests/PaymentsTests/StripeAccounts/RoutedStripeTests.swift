import EventTypes
import ServiceKit
import StoreAPI
import Stripe
import StripeStandIn
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// Payments of a store with two accounts at Stripe.
@Suite(.timeLimit(.minutes(10))) struct RoutedStripeTests {
    @Test func anAppIsChargedAtItsAccountOnly() async throws {
        try await withTwoAccounts { two in
            try await two.withProcess { store in
                let bought = try await store.buy(by: try await store.save(at: two.url))
                #expect(bought.state == .purchased)
                #expect(two.standIn.entries.map(\.amount) == [999])
                #expect(store.standIn.entries.isEmpty)
            }
        }
    }

    /// At the new account nothing would ever be found.
    @Test func aChargeWhoseAnswerIsLostIsFoundAfterTheAppHasMoved() async throws {
        try await withTwoAccounts { two in
            let store = two.store
            let card = try await store.save()
            store.standIn.inject(
                StandInFault(.lostAfter, path: "/v1/payment_intents", method: "POST")
            )
            let bought = try await store.buy(by: card)
            #expect(bought.state == .purchasing)
            try await two.withProcess { moved in
                for _ in 0..<4 { try await moved.recover() }
                // No inquiry is final before an idempotency key has ended.
                try await moved.recover(after: .seconds(24 * 3600))
                #expect(try await moved.load(bought.id).state == .purchased)
            }
            #expect(store.standIn.entries.map(\.amount) == [999])
            #expect(two.standIn.entries.isEmpty)
        }
    }

    @Test func whatWasBoughtBeforeAMoveStaysAtTheOldAccount() async throws {
        try await withTwoAccounts { two in
            let card = try await two.store.save()
            let bought = try await two.store.buy(by: card)
            try await two.withProcess { moved in
                guard case .charged = try await moved.renew(by: card) else {
                    Issue.record("The old card did not pay a renewal.")
                    return
                }
                _ = try await moved.refunds.refund(bought.id)
                #expect(try await moved.load(bought.id).revokedAt != nil)
                // For what is new, the buyer saves a card at the new account.
                #expect(try await moved.methods.methods(of: alice.accountKey) == [])
                await #expect(throws: PaymentRefusal.paymentMethodUnknown) {
                    try await moved.add(by: card, key: "b")
                }
                let second = try await moved.save(at: two.url)
                #expect(try await moved.buy(by: second, key: "c").state == .purchased)
            }
            #expect(two.store.standIn.entries.map(\.kind) == ["charge", "charge", "refund"])
            #expect(two.standIn.entries.map(\.kind) == ["charge"])
            #expect(try await two.store.counts("processor_customers") == [2])
        }
    }

    @Test func anAccountThatIsSlowHoldsUpNoAnswerOfAnother() async throws {
        try await withTwoAccounts { two in
            let card = try await two.store.save()
            try await two.withProcess { store in
                let slow = try await store.save(at: two.url)
                two.standIn.inject(
                    StandInFault(.slow(.seconds(25)), path: "/v1/payment_intents", method: "POST")
                )
                let requests = [slow, card].map {
                    ChargeRequest(
                        key: store.renewalKey,
                        paymentMethod: $0,
                        amount: usd(999),
                        isApproved: true
                    )
                }
                let answered = Mutex<[AttemptID]>([])
                await store.charging.charge(requests) { id, _ in
                    answered.withLock { $0.append(id) }
                }
                #expect(answered.withLock { $0 } == requests.reversed().map(\.attemptID))
            }
        }
    }

    @Test func aSetupThatWasBegunBeforeAMoveIsCompleted() async throws {
        try await withTwoAccounts { two in
            let (store, account) = (two.store, alice.accountKey)
            let setup = try await store.methods.begin(for: account)
            let path = "/v1/setup_intents/\(setup.id)/confirm"
            try await store.post(path, "payment_method=pm_card_visa")
            try await two.withProcess { moved in
                #expect(try await moved.methods.complete(setup.id, for: account) == .saved)
                let token = try #require(
                    try await store.methods.methods(of: account).first?.token
                )
                // It is removed where it was saved.
                #expect(try await moved.methods.remove(token, of: account))
            }
            #expect(try await store.methods.methods(of: account) == [])
        }
    }

    @Test func anAccountThatNoSettingNamesIsWaitedFor() async throws {
        try await withTwoAccounts { two in
            let store = two.store
            try await two.withProcess { process in
                let added = try await process.add(by: try await process.save(at: two.url))
                await store.runner.carryOut(process.pending.take())
                await store.runner.drain()
                for _ in 0..<4 { try await store.recover(after: .seconds(60)) }
                #expect(try await store.load(added.id).state == .purchasing)
                #expect(store.standIn.paymentCalls == 0)
                #expect(store.charging.missing.problem?.hasSuffix(": games") == true)
                // With the setting it is charged.
                for _ in 0..<4 { try await process.recover(after: .seconds(60)) }
                #expect(try await process.load(added.id).state == .purchased)
            }
            #expect(two.standIn.entries.map(\.amount) == [999])
        }
    }

    /// Whoever has the key of one account can write any text there.
    @Test func anAccountSettlesNoAttemptOfACardOfAnother() async throws {
        try await withTwoAccounts { two in
            try await two.withProcess(apps: [:]) { store in
                let added = try await store.add(by: try await store.save())
                let attempt = try await store.charge(of: added.id).id
                try await store.post(
                    "/v1/payment_intents",
                    "amount=999&currency=usd&payment_method=pm_card_visa&confirm=true"
                        + "&metadata[attempt]=\(attempt)&metadata[transaction]=\(added.id.rawValue)",
                    at: two.url
                )
                let events = two.events(of: store)
                try await events.readList(pause: .seconds(300))
                store.clock.advance(by: ProcessorEventHandler.delay)
                #expect(try await events.applyDue(limit: 10) > 0)
                #expect(try await store.counts("processor_events WHERE applied_at IS NULL") == [0])
                #expect(try await store.load(added.id).state == .purchasing)
                #expect(try await store.counts("ledger_postings") == [0])
            }
        }
    }

    @Test func theWarningOfADisputeNamesTheAccount() async throws {
        try await withTwoAccounts { two in
            let log = RecordedLog()
            try await two.withProcess(logger: log.logger) { store in
                let bought = try await store.buy(by: try await store.save(at: two.url))
                let payment = try #require(try await store.charge(of: bought.id).reference)
                try two.standIn.dispute(payment: payment.rawValue)
                let events = two.events(of: store)
                store.clock.advance(by: .seconds(301))
                try await events.readList(pause: .seconds(300))
                store.clock.advance(by: .seconds(2))
                while try await events.applyDue(limit: 10) > 0 {}
                #expect(try await store.load(bought.id).revokedAt != nil)
            }
            let warnings = log.lines.filter { $0.hasPrefix("A buyer disputes a charge") }
            #expect(warnings.count == 1 && warnings[0].contains("games"))
        }
    }

    @Test func whatMovesAtEachAccountIsReadAndComparedByItself() async throws {
        try await withTwoAccounts { two in
            _ = try await two.store.buy(by: try await two.store.save())
            try await two.withProcess { moved in
                _ = try await moved.buy(by: try await moved.save(at: two.url), key: "b")
                _ = try await moved.buy(by: try await moved.save(at: two.url), key: "c")
            }
            try await two.store.readMovements()
            try await two.movements.readList(pause: .seconds(600))
            // Charges of 9.99 with a fee of 0.58 each.
            #expect(
                try await two.store.processorBalances()
                    .map { $0.prefix { $0 != "," } }.sorted() == ["USD 1882", "USD 941"]
            )
            #expect(
                try await two.store.counts(
                    "processor_movements WHERE processor_account = 'default'",
                    "processor_movements WHERE processor_account = 'games'",
                    "processor_movement_places"
                ) == [1, 2, 2]
            )
        }
    }
}

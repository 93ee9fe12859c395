import EventTypes
import StripeStandIn
import TestSupport
import Testing

@testable import Payments

/// The search for charges by cards that the books have lost, at two accounts at Stripe.
@Suite(.timeLimit(.minutes(10))) struct StraySearchTests {
    /// The app has moved in the lost time.
    ///
    /// The buyer and the card at the new account are in no table.
    @Test func aChargeByALostCardAtAnotherAccountIsNotRepeated() async throws {
        try await withTwoAccounts { two in
            let (card, time) = (try await two.store.save(), two.store.clock.machineNow())
            try await two.withProcess { store in
                try await two.chargeStranger(.ofRenewal(2))
                let finding = try await store.search(.ofRenewal(1), by: card, since: time)
                #expect(finding == .strayed)
                #expect(store.charging.strays.problem()?.hasSuffix(": 1") == true)
                let later = try await store.search(.ofRenewal(3), by: card, since: time)
                #expect(later == .nothing, "it is no later try")
                // A person has given it back.
                let payment = try #require(two.standIn.payment(ofTransaction: "9"))
                let path = "/v1/payment_intents/\(payment)"
                try await store.post(path, "metadata[attempt]=", at: two.url)
                let end = try await store.search(.ofRenewal(1), by: card, since: time)
                #expect(end == .nothing)
                #expect(store.charging.strays.problem() == nil)
            }
            #expect(two.store.standIn.entries.isEmpty)
        }
    }

    /// The buyer has saved a card again, as another buyer of the same account at Stripe.
    @Test func aChargeOfALostBuyerIsNotRepeatedByTheNextOne() async throws {
        try await withTwoAccounts { two in
            let time = two.store.clock.machineNow()
            try await two.withProcess { store in
                try await two.chargeStranger(.ofRenewal(2))
                store.clock.advance(by: .seconds(10))
                let card = try await store.save(at: two.url)
                let finding = try await store.search(.ofRenewal(1), by: card, since: time)
                #expect(finding == .strayed)
                let fourth = try CallKey.ofRenewal(4)
                _ = try await store.renew(by: card, fourth)
                let own = try await store.search(fourth, by: card, since: time)
                #expect(own == .found(fourth.attemptID))
            }
        }
    }

    @Test func eachAccountThatKnowsTheBuyerIsAsked() async throws {
        try await withTwoAccounts { two in
            let (card, time) = (try await two.store.save(), two.store.clock.machineNow())
            try await two.withProcess { moved in
                let other = try await moved.save(at: two.url)
                let second = try CallKey.ofRenewal(2)
                _ = try await moved.renew(by: other, second)
                // The app was moved back.
                try await two.withProcess(apps: [:]) { store in
                    two.standIn.inject(
                        StandInFault(.down, path: "/v1/payment_intents", method: "GET")
                    )
                    let unsure = try await store.search(.ofRenewal(1), by: card, since: time)
                    #expect(unsure == .unavailable)
                    let finding = try await store.search(.ofRenewal(1), by: card, since: time)
                    #expect(finding == .strayed)
                    let own = try await store.search(.ofRenewal(1), by: other, since: time)
                    #expect(own == .found(second.attemptID), "its own list has it")
                }
            }
        }
    }

    @Test func anAccountWhereTheBuyerCanHaveNoCardIsNotAsked() async throws {
        try await withTwoAccounts { two in
            let (card, time) = (try await two.store.save(), two.store.clock.machineNow())
            try await two.withProcess(apps: [:]) { store in
                let calls = two.standIn.calls
                let finding = try await store.search(.ofRenewal(1), by: card, since: time)
                #expect(finding == .nothing)
                #expect(two.standIn.calls == calls)
            }
        }
    }

    /// The pages before it are not read again.
    @Test func aSearchGoesOnAtThePageThatWasThrottled() async throws {
        try await withTwoAccounts { two in
            let (card, time) = (try await two.store.save(), two.store.clock.machineNow())
            for attempt in 2...4 { try await two.chargeStranger(.ofRenewal(attempt)) }
            for kind in [StandInFault.Kind.slow(.zero), .rateLimit] {
                two.standIn.inject(StandInFault(kind, path: "/v1/payment_intents", method: "GET"))
            }
            let calls = two.standIn.calls
            let first = try CallKey.ofRenewal(1)
            let search = PeriodSearch(
                attemptID: first.attemptID,
                transactionID: TransactionID(number: 12),
                paymentMethod: card,
                since: time
            )
            let found = await two.games.processor.strays(
                [StraySearch(search: search, own: nil)],
                of: nil,
                pageSize: 1
            )
            #expect(found?.keys.contains(first.attemptID) == true)
            #expect(two.standIn.calls - calls == 4, "three pages, and one of them again")
        }
    }

    @Test func aSearchIsAnsweredOnceAllPlacesAre() throws {
        let id = try CallKey.ofRenewal(1).attemptID
        var lookout = StrayLookout([id, id, id])
        lookout.note(id, .strayed)
        lookout.note(id, .unavailable)
        #expect(lookout.finding(of: id) == nil)
        lookout.note(id, .nothing)
        #expect(lookout.finding(of: id) == .strayed)
        var silent = StrayLookout([id, id])
        silent.note(id, .unavailable)
        silent.note(id, .nothing)
        #expect(silent.finding(of: id) == .unavailable)
    }
}

extension TwoAccounts {
    /// Charges a buyer at the second account whom the books do not know.
    fileprivate func chargeStranger(_ key: CallKey) async throws {
        try await store.post(
            "/v1/payment_intents",
            "amount=999&currency=usd&payment_method=pm_card_visa&confirm=true"
                + "&metadata[attempt]=\(key.attemptID)&metadata[transaction]=9",
            at: url
        )
    }
}

import EventTypes
import HTTPTypes
import ServiceKit
import StoreAPI
import StoreTracing
import TestSupport
import Testing

@testable import Payments

/// The limit of charges that a buyer may ask for.
@Suite struct AskedTriesTests {
    @Test func whatIsOwedIsChargedFiveTimesADayOnRequest() async throws {
        try await withStore { store in
            try await store.sell(club())
            var request = request("club", price: usd(299))
            request.paymentMethod = SandboxPaymentMethod.renewalDeclined.method
            let id = try await store.buy(request, key: "1").id
            try await store.advance(days: 31)
            let before = try await store.transactions().count
            let declined = SubscriptionHandler.Decision.method(SandboxPaymentMethod.decline.method)
            for _ in 0..<AskedTries.dailyMax {
                let asked = try await decide(declined, on: id, in: store)
                // A request that is repeated while the charge is under way takes no other try.
                let again = try await decide(declined, on: id, in: store)
                #expect(again == asked)
                try await store.settle()
            }
            #expect(try await store.transactions().count == before + AskedTries.dailyMax)
            let rest = AskedTries(of: id, at: store.clock.now()).rest
            // Neither another method nor the running product is charged on this day.
            let working = SubscriptionHandler.Decision.method(SandboxPaymentMethod.success.method)
            for decision in [declined, working, .product(ProductID(unchecked: "club"))] {
                let reply = try await decide(decision, on: id, in: store)
                #expect(reply == .refused(.tooManyTries(retryAfter: rest)))
            }
            #expect(try await store.transactions().count == before + AskedTries.dailyMax)
            #expect(try await store.subscription().state == .inBillingRetryPeriod)

            store.clock.advance(by: rest)
            _ = try await decide(working, on: id, in: store)
            try await store.settle()
            #expect(try await store.subscription().state == .active)
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func theCardOfARefusedTryPaysAtTheNextOneOfTheStore() async throws {
        try await withStore { store in
            try await store.sell(club())
            var request = request("club", price: usd(299))
            request.paymentMethod = SandboxPaymentMethod.renewalDeclined.method
            let id = try await store.buy(request, key: "1").id
            try await store.advance(days: 31)
            for _ in 0..<AskedTries.dailyMax {
                _ = try await decide(
                    .method(SandboxPaymentMethod.decline.method),
                    on: id,
                    in: store
                )
                try await store.settle()
            }
            let reply = try await decide(
                .method(SandboxPaymentMethod.success.method),
                on: id,
                in: store
            )
            guard case .refused(.tooManyTries) = reply else {
                Issue.record("\(reply)")
                return
            }
            #expect(try await store.subscription().state == .inBillingRetryPeriod)
            try await store.advance(days: 30)
            #expect(try await store.subscription().state == .active)
            #expect(try await store.auditFindings() == [])
        }
    }

    @Test func aRefusedTrySaysWhenTheNextOneIsPossible() {
        let id = TransactionID(number: 1_000_001)
        let evening = StoreTime(millisecondsSinceEpoch: 20_000 * 86_400_000 - 90_000)
        let tries = AskedTries(of: id, at: evening)
        #expect(tries.rest == .seconds(90) && Set(tries.keys).count == AskedTries.dailyMax)
        // All hours of a day have the same tries.
        let morning = AskedTries(of: id, at: evening.advanced(by: .seconds(-20 * 3600)))
        #expect(morning.keys == tries.keys)
        let tomorrow = AskedTries(of: id, at: evening.advanced(by: tries.rest))
        #expect(Set(tomorrow.keys).isDisjoint(with: tries.keys))
        let problem = SubscriptionChangeRefusal.tooManyTries(retryAfter: tries.rest).problem
        #expect(problem.code == "too_many_tries" && problem.status == .conflict)
        #expect(problem.retryAfter == .seconds(90))
    }

    private func decide(
        _ decision: SubscriptionHandler.Decision,
        on id: TransactionID,
        in store: Store
    ) async throws -> SubscriptionHandler.Reply {
        try await store.subscriptions.decide(decision, on: id, trace: .begin())
    }
}

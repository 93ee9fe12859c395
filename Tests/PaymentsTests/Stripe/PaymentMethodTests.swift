import EventTypes
import ServiceKit
import StoreAPI
import Stripe
import StripeStandIn
import TestSupport
import Testing

@testable import Payments

/// Payment methods that buyers save at a stand-in for Stripe.
@Suite(.timeLimit(.minutes(10))) struct PaymentMethodTests {
    private let account = alice.accountKey
    private let other = bob.accountKey

    @Test func anAccountIsOneBuyerHoweverManyCardsItSaves() async throws {
        try await withStripeStore { store in
            _ = try await store.save()
            _ = try await store.save()
            _ = try await store.save(of: bob)
            #expect(try await store.counts("processor_customers", "payment_methods") == [2, 3])
            #expect(try await store.methods.methods(of: account).count == 2)
        }
    }

    @Test(arguments: [StandInFault.Kind.lostAfter, .errorAfter, .errorBefore])
    func aBuyerIsMadeEvenIfTheAnswerIsLost(fault: StandInFault.Kind) async throws {
        try await withStripeStore { store in
            store.standIn.inject(StandInFault(fault, path: "/v1/customers"))
            for _ in 0..<2 {
                // The first answers are lost or kept, and the buyer asks again.
                _ = try? await store.methods.begin(for: account)
            }
            _ = try await store.save()
            #expect(try await store.counts("processor_customers", "payment_methods") == [1, 1])
        }
    }

    @Test func aSetupIsCompletedByItsAccountOnlyAndNotBeforeItsBuyer() async throws {
        try await withStripeStore { store in
            let setup = try await store.methods.begin(for: account)
            #expect(setup.clientSecret?.revealed.isEmpty == false)
            #expect(try await store.methods.complete(setup.id, for: account) == .unfinished)
            try await store.post(
                "/v1/setup_intents/\(setup.id)/confirm",
                "payment_method=pm_card_visa"
            )
            #expect(try await store.methods.complete(setup.id, for: other) == .unknown)
            #expect(try await store.methods.complete("seti_nobody", for: account) == .unknown)
            #expect(try await store.methods.complete("../customers", for: account) == .unknown)
            #expect(try await store.counts("payment_methods") == [0])
            for _ in 0..<2 {
                #expect(try await store.methods.complete(setup.id, for: account) == .saved)
            }
            #expect(try await store.counts("payment_methods") == [1])
        }
    }
}

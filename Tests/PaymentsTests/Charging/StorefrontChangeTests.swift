import EventTypes
import StoreAPI
import Testing

@testable import Payments

/// Changes of the storefront during a payment (spec rules 8 and 9, trap 28).
@Suite(.timeLimit(.minutes(10))) struct StorefrontChangeTests {
    /// Before the charge: the buyer is not charged in the currency of the earlier storefront.
    @Test func whatNoProcessorHasSeenIsNotCharged() async throws {
        try await withStore { store in
            let accepted = try await store.add(request(), key: "a")
            // Its process is killed before it calls the processor.
            _ = store.pending.take()
            try await store.say(storefront: "FRA")
            try await store.recover()
            #expect(try await store.load(accepted.id).failureReason == .storefrontChanged)
            #expect(store.processor.chargesAsked == 0)
            #expect(try await store.postings(of: accepted.id).isEmpty)
        }
    }

    /// After the charge: the buyer accepted this price, and the money has moved.
    @Test func aChargeInFlightGoesThroughWhereItWasAccepted() async throws {
        try await withStore { store in
            let accepted = try await store.add(request(), key: "a")
            store.processor.loseAnswers(1)
            try await store.settle()
            #expect(try await store.load(accepted.id).state == .purchasing)
            try await store.say(storefront: "FRA")
            try await store.recover()
            let purchased = try await store.load(accepted.id)
            #expect(purchased.state == .purchased && purchased.price == usd(999))
            #expect(purchased.storefront.rawValue == "USA")
            #expect(store.processor.chargesAsked == 1)
            #expect(try await store.booksBalance())
        }
    }

    /// After the outcome: the transaction stays purchased, and is refunded in its own currency.
    @Test func whatIsPurchasedStaysPurchasedAndIsRefundedInItsCurrency() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(), key: "a")
            try await store.say(storefront: "FRA")
            #expect(try await store.load(bought.id) == bought)
            _ = try await store.refunds.beginRefund(of: bought.id)
            try await store.recover()
            let refunded = try await store.load(bought.id)
            #expect(refunded.revokedAt != nil && refunded.price == usd(999))
            #expect(try await store.booksBalance())
        }
    }

    @Test func whoMovesAndMovesBackIsCharged() async throws {
        try await withStore { store in
            let accepted = try await store.add(request(), key: "a")
            _ = store.pending.take()
            try await store.say(storefront: "FRA")
            try await store.say(storefront: "USA")
            try await store.recover()
            #expect(try await store.load(accepted.id).state == .purchased)
        }
    }
}

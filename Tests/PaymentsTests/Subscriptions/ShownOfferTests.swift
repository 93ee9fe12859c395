import EventTypes
import StoreAPI
import Testing

@testable import Payments

/// Payments that name the offer that their buyer was shown (rule S47).
@Suite(.timeLimit(.minutes(10))) struct ShownOfferTests {
    private func shown(_ terms: OfferTerms, price: Money) -> ShownOffer {
        ShownOffer(
            type: .introductory,
            terms: OfferListing(
                mode: terms.mode,
                period: terms.period,
                numberOfPeriods: terms.numberOfPeriods,
                price: price
            )
        )
    }

    private func buy(_ store: Store, _ offer: ShownOffer, key: String) async throws -> Transaction {
        var request = request("club", price: usd(299))
        request.offer = offer
        return try await store.buy(request, key: key)
    }

    /// The trial ends in the moment in which the buyer decides.
    @Test func whoWasShownAnOfferIsNeverChargedTheOrdinaryPrice() async throws {
        try await withStore { store in
            let trial = shown(freeWeek, price: usd(0))
            try await store.sell(club(offer: freeWeek))
            let bought = try await buy(store, trial, key: "1")
            #expect(bought.price == usd(0) && bought.state == .purchased)
            try await store.lapse()
            await #expect(throws: PaymentRefusal.offerNotAvailable) {
                try await buy(store, trial, key: "2")
            }
            await #expect(throws: PaymentRefusal.offerNotAvailable) {
                try await buy(store, ShownOffer(type: .introductory), key: "3")
            }
            #expect(try await store.transactions().map(\.id) == [bought.id])
            try await store.expectNothingLost()
        }
    }

    @Test func anOfferThatHasChangedOrEndedIsRefused() async throws {
        try await withStore { store in
            try await store.sell(club(offer: threeMonths))
            await #expect(
                throws: PaymentRefusal.staleOffer(
                    current: .threeMonths
                )
            ) {
                try await buy(store, shown(freeWeek, price: usd(0)), key: "1")
            }
            var other = ShownOffer(type: .introductory)
            other.id = OfferID(unchecked: "spring")
            await #expect(throws: PaymentRefusal.offerNotAvailable) {
                try await buy(store, other, key: "1")
            }
            // The price after the offer.
            try await store.sell(club(price: usd(399), version: 2, offer: threeMonths))
            await #expect(throws: PaymentRefusal.stalePrice(current: usd(399))) {
                try await buy(store, shown(threeMonths, price: usd(99)), key: "1")
            }
            try await store.sell(club(version: 3))
            await #expect(throws: PaymentRefusal.offerNotAvailable) {
                try await buy(store, shown(threeMonths, price: usd(99)), key: "1")
            }
            try await store.sell(club(version: 4, offer: threeMonths))
            let bought = try await buy(store, ShownOffer(type: .introductory), key: "1")
            #expect(bought.price == usd(99))
            var another = request("club", price: usd(299))
            another.offer = shown(threeMonths, price: usd(99))
            await #expect(throws: PaymentRefusal.idempotencyKeyReused) {
                try await store.buy(another, key: "1")
            }
        }
    }
}

extension OfferListing {
    /// Three months for 0.99 USD each, as a buyer sees them.
    fileprivate static let threeMonths = OfferListing(
        mode: .payAsYouGo,
        period: SubscriptionPeriod(1, .month),
        numberOfPeriods: 3,
        price: usd(99)
    )
}

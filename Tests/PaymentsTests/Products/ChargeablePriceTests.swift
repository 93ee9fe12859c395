import EventTypes
import Logging
import TestSupport
import Testing

@testable import Payments

/// Prices that the catalog had before Stripe had to charge them.
@Suite(.timeLimit(.minutes(10))) struct ChargeablePriceTests {
    private static let usa = Storefront(unchecked: "USA")

    @Test func eachPriceThatStripeCannotChargeIsNamed() async throws {
        try await withStore { store in
            var offered = club("1.offered")
            offered.introductoryOffer = OfferTerms(
                mode: .payAsYouGo,
                period: SubscriptionPeriod(1, .month),
                prices: [Self.usa: usd(20)]
            )
            var scheduled = product("2.scheduled")
            scheduled.priceChanges = [
                Self.usa: PriceChange(price: usd(30), from: startTime.advanced(by: .seconds(60)))
            ]
            try await store.sell(
                offered,
                scheduled,
                product("3.cheap", price: usd(49)),
                product("4.free", price: usd(0)),
                product("5.dear", price: usd(50)),
                product("6.gone", price: usd(10), isOnSale: false)
            )
            let log = RecordedLog()
            let prices = ChargeablePriceHandler(
                client: store.client,
                now: store.clock.now,
                logger: log.logger
            )
            let found = try await prices.find().map { "\($0.productID): \($0.price)" }
            #expect(
                found == ["1.offered: 0.20 USD", "2.scheduled: 0.30 USD", "3.cheap: 0.49 USD"]
            )
            try await prices.warn()
            #expect(log.levels == [.warning, .warning, .warning])
        }
    }

    /// A scheduled price that has come into force replaces the one before it.
    @Test func onlyPricesInForceAndComingOnesCount() async throws {
        try await withStore { store in
            var raised = product("1.raised", price: usd(10))
            raised.priceChanges = [
                Self.usa: PriceChange(price: usd(99), from: startTime.advanced(by: .seconds(-60)))
            ]
            try await store.sell(raised)
            let prices = ChargeablePriceHandler(
                client: store.client,
                now: store.clock.now,
                logger: RecordedLog().logger
            )
            #expect(try await prices.find() == [])
        }
    }
}

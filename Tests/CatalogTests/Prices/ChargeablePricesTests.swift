import EventTypes
import NIOHTTP1
import StoreAPI
import TestSupport
import Testing

@testable import Catalog

/// Prices that the processor cannot charge.
@Suite(.timeLimit(.minutes(10))) struct ChargeablePricesTests {
    private func problems(
        of draft: ProductDraft,
        by processor: ChargingProcessor = .stripe
    ) -> [String] {
        ChargeablePrices.problems(of: draft, Builder.premium, by: processor).map(\.field)
    }

    @Test(arguments: [
        (Builder.money(50, "USD"), true), (Builder.money(49, "USD"), false),
        // Nothing is charged for it.
        (Builder.money(0, "USD"), true),
        // Stripe has two decimals of three.
        (Builder.money(1_000, "KWD"), true), (Builder.money(1_005, "KWD"), false),
        (Builder.money(100_000_000, "USD"), false), (Builder.money(500, "GHS"), false),
    ])
    func aPriceIsTakenIfItCanBeCharged(price: Money, isTaken: Bool) {
        var draft = Builder.draft()
        draft.prices = [Builder.usa: price]
        #expect(problems(of: draft) == (isTaken ? [] : ["prices.USA"]))
        #expect(problems(of: draft, by: .sandbox) == [])
    }

    @Test func offersAndScheduledPricesHaveToBeChargedToo() {
        let offer = OfferTerms(
            mode: .payAsYouGo,
            period: SubscriptionPeriod(1, .month),
            prices: [Builder.usa: Builder.money(10, "USD")]
        )
        var draft = Builder.subscription()
        draft.priceChanges = [
            Builder.usa: PriceChange(price: Builder.money(20, "USD"), from: Builder.now)
        ]
        draft.introductoryOffer = offer
        draft.promotionalOffers = [PromotionalOffer(id: OfferID(unchecked: "back"), terms: offer)]
        draft.codeOffers = [CodeOffer(id: OfferID(unchecked: "spring"), terms: offer)]
        draft.winBackOffers = [WinBackOffer(id: OfferID(unchecked: "miss"), terms: offer)]
        #expect(
            problems(of: draft) == [
                "priceChanges.USA.price", "introductoryOffer.prices.USA",
                "promotionalOffers[0].prices.USA", "codeOffers[0].prices.USA",
                "winBackOffers[0].prices.USA",
            ]
        )
    }

    /// The catalog that the end-to-end tests import, with Stripe too.
    @Test func theSampleCatalogCanBeCharged() throws {
        let products = try SampleCatalog.document().products
        #expect(!products.isEmpty)
        for (id, draft) in products {
            let problems = ChargeablePrices.problems(of: draft, id, by: .stripe)
            #expect(problems.map(\.problem) == [], "\(id)")
        }
        for club in SampleCatalog.clubs {
            #expect(problems(of: SampleCatalog.subscription(club)) == [], "\(club)")
        }
    }

    @Test func aStoreWithStripeRefusesThePriceAndChangesNothing() async throws {
        try await withCatalog(settings: ["PROCESSOR": "stripe"]) { catalog in
            let refused = try await catalog.put(Builder.premium, Builder.draft(cents: 10))
            #expect(refused.status == 422)
            let problem = try refused.decode(Problem.self)
            #expect(problem.code == "product_invalid")
            #expect(
                problem.detail == "com.example.premium: prices.USA cannot be charged: "
                    + "Stripe charges at least 50 units of usd, not 10."
            )
            let product = Builder.json(
                replacing: ["prices": #"{"USA": {"minorUnits": 10, "currency": "USD"}}"#]
            )
            let document = #"{"products": {"com.example.premium": \#(product)}}"#
            let imported = try await catalog.admin(.PUT, Routes.adminCatalog, document)
            #expect(imported.status == 422)
            #expect(try imported.decode(Problem.self).code == "catalog_invalid")
            #expect(try await catalog.history() == [])
            #expect(try await catalog.put().status == 201)
        }
    }
}

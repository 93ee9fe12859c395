import EventTypes
import OperatorCore
import StoreAPI
import Testing

@testable import Operator

/// The offers of the catalog, as `counterfoil offers list` shows them.
@Suite struct OfferListTests {
    private static let usa = Storefront(unchecked: "USA")

    private static func terms(_ mode: OfferMode, times: Int, _ cents: Int64) -> OfferTerms {
        OfferTerms(
            mode: mode,
            period: SubscriptionPeriod(1, .month),
            numberOfPeriods: times,
            prices: [usa: Money(minorUnits: cents, currency: Currency(unchecked: "USD"))]
        )
    }

    private static let document = CatalogDocument(products: [
        ProductID(unchecked: "club"): ProductDraft(
            type: .autoRenewableSubscription,
            prices: [:],
            localizations: [:],
            introductoryOffer: terms(.freeTrial, times: 1, 0),
            promotionalOffers: [
                PromotionalOffer(
                    id: OfferID(unchecked: "come_back"),
                    isActive: false,
                    terms: terms(.payAsYouGo, times: 3, 99)
                )
            ],
            codeOffers: [
                CodeOffer(
                    id: OfferID(unchecked: "spring"),
                    terms: terms(.payUpFront, times: 1, 199)
                )
            ],
            winBackOffers: [
                WinBackOffer(
                    id: OfferID(unchecked: "miss"),
                    terms: terms(.payAsYouGo, times: 2, 149)
                )
            ]
        ),
        ProductID(unchecked: "coins"): ProductDraft(
            type: .consumable,
            prices: [:],
            localizations: [:]
        ),
    ])

    @Test func everyOfferIsALineAlsoOneThatIsNotActive() throws {
        let offers = try ListedOffer.all(in: Self.document)
        #expect(
            ListedOffer.table(offers).dropFirst() == [
                ["club", "introductory", "", "yes", "freeTrial", "1 × P1M", "USA 0.00 USD"],
                [
                    "club", "promotional", "come_back", "no", "payAsYouGo", "3 × P1M",
                    "USA 0.99 USD",
                ],
                ["club", "code", "spring", "yes", "payUpFront", "1 × P1M", "USA 1.99 USD"],
                ["club", "winBack", "miss", "yes", "payAsYouGo", "2 × P1M", "USA 1.49 USD"],
            ]
        )
    }

    @Test func oneProductIsListedAloneAndAnUnknownOneIsRefused() throws {
        let coins = try ListedOffer.all(in: Self.document, of: ProductID(unchecked: "coins"))
        #expect(coins == [])
        let club = try ListedOffer.all(in: Self.document, of: ProductID(unchecked: "club"))
        #expect(club.map(\.type) == [.introductory, .promotional, .code, .winBack])
        #expect(throws: OperatorError.self) {
            try ListedOffer.all(in: Self.document, of: ProductID(unchecked: "clubs"))
        }
    }
}

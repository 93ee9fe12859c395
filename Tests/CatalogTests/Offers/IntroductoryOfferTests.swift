import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import TestSupport
import Testing

@testable import Catalog

/// The introductory offers that administrators may make (rules S40 and S41).
@Suite(.timeLimit(.minutes(10))) struct IntroductoryOfferTests {
    private static let dollars = #"{"USA": {"minorUnits": %d, "currency": "USD"}}"#

    /// Reads a monthly subscription for 4.99 USD with an offer.
    private func read(
        _ offer: String,
        type: String = "autoRenewableSubscription",
        period: String = "P1M"
    ) throws -> (offer: OfferTerms?, problems: [String]) {
        let isSubscription = type == "autoRenewableSubscription"
        let terms = #"{"groupID": "club", "level": 1, "period": "\#(period)"}"#
        let json = Builder.json(replacing: [
            "type": #""\#(type)""#,
            "subscription": isSubscription ? terms : "null",
            "introductoryOffer": offer,
        ])
        let read = ProductDraftReader.read(try Builder.value(json), id: "club")
        return (
            read.product?.draft.introductoryOffer,
            read.problems.map { $0.description.replacing("club: introductoryOffer", with: "") }
        )
    }

    private func offer(
        _ mode: String,
        _ period: String,
        _ count: Int? = nil,
        cents: Int
    ) -> String {
        let count = count.map { #""numberOfPeriods": \#($0), "# } ?? ""
        let prices = String(format: Self.dollars, cents)
        return #"{"mode": "\#(mode)", "period": "\#(period)", \#(count)"prices": \#(prices)}"#
    }

    @Test(arguments: [
        ("freeTrial", "P3D", 0), ("freeTrial", "P2W", 0), ("freeTrial", "P1Y", 0),
        ("payUpFront", "P1W", 498), ("payUpFront", "P6M", 2993), ("payUpFront", "P1Y", 5987),
    ])
    func anOfferOfOnePeriodIsTaken(mode: String, period: String, cents: Int) throws {
        let read = try read(offer(mode, period, cents: cents))
        #expect(read.problems == [])
        let terms = try #require(read.offer)
        #expect(terms.mode.rawValue == mode && terms.period.description == period)
        #expect(terms.numberOfPeriods == 1)
        #expect(terms.prices == [Builder.usa: Builder.money(Int64(cents), "USD")])
    }

    /// All periods together are at most a year, or twelve weeks.
    @Test(arguments: [
        ("P1W", 12), ("P1M", 12), ("P2M", 6), ("P3M", 4), ("P6M", 2), ("P1Y", 1),
    ])
    func payAsYouGoHasPeriodsOfAYear(period: String, max: Int) throws {
        let most = try read(offer("payAsYouGo", period, max, cents: 99), period: period)
        #expect(most.problems == [] && most.offer?.numberOfPeriods == max)
        let more = try read(offer("payAsYouGo", period, max + 1, cents: 99), period: period)
        #expect(more.problems.count == 1, "\(more.problems)")
        #expect(more.problems.first?.hasPrefix(".numberOfPeriods is \(max + 1)") == true)
    }

    @Test(arguments: [
        (
            #"{"mode": "barter", "period": "P1W", "prices": {}}"#,
            [
                ".mode is 'barter'; it must be one of freeTrial, payAsYouGo, payUpFront",
                ".prices must hold at least one price",
            ]
        ),
        (
            #"{"mode": "freeTrial", "period": "week", "prices": \#(#"{"USA": {"minorUnits": 0, "currency": "USD"}}"#)}"#,
            [".period is 'week', not a number and a unit such as P1W"]
        ),
        ("{}", [".mode is missing", ".period is missing", ".prices is missing"]),
        ("3", [" is a whole number, not an object"]),
    ])
    func anOfferThatCannotBeReadIsRefused(offer: String, problems: [String]) throws {
        #expect(try read(offer).problems == problems)
    }

    @Test func anOfferThatContradictsItsProductIsRefused() throws {
        func problems(_ offer: String) throws -> [String] { try read(offer).problems }
        #expect(
            try problems(offer("payUpFront", "P3D", cents: 99)) == [
                ".period is 'P3D'; for payUpFront it must be one of P1W, P1M, P2M, P3M, P6M, P1Y"
            ]
        )
        #expect(
            try problems(offer("payAsYouGo", "P1W", cents: 99)) == [
                ".period is 'P1W'; for payAsYouGo it must be one of P1M"
            ]
        )
        #expect(
            try problems(offer("freeTrial", "P1W", 2, cents: 0)) == [
                ".numberOfPeriods is 2; for freeTrial of P1M it must be 1"
            ]
        )
        #expect(
            try problems(offer("freeTrial", "P1W", cents: 1)) == [
                ".prices.USA must be 0: a trial is free"
            ]
        )
        #expect(
            try problems(offer("payAsYouGo", "P1M", cents: 0)) == [
                ".prices.USA must not be 0, unless the mode is freeTrial"
            ]
        )
        #expect(
            try problems(offer("payAsYouGo", "P1M", cents: 499)) == [
                ".prices.USA must be below 4.99 USD, the ordinary price of the same time"
            ]
        )
        #expect(
            try problems(offer("payUpFront", "P3M", cents: 1497)) == [
                ".prices.USA must be below 14.97 USD, the ordinary price of the same time"
            ]
        )
    }

    @Test func anOfferWithPricesOfOtherStorefrontsIsRefused() throws {
        let euros = #"{"USA": {"minorUnits": 99, "currency": "EUR"}}"#
        let other = try read(#"{"mode": "payAsYouGo", "period": "P1M", "prices": \#(euros)}"#)
        #expect(other.problems == [".prices.USA is in EUR, and the product's price in USD"])
        let france = #"{"FRA": {"minorUnits": 99, "currency": "EUR"}}"#
        let unsold = try read(#"{"mode": "payAsYouGo", "period": "P1M", "prices": \#(france)}"#)
        #expect(
            unsold.problems == [".prices.FRA is the price of an offer where the product has none"]
        )
    }

    @Test func onlyASubscriptionHasAnOffer() throws {
        let read = try read(offer("freeTrial", "P1W", cents: 0), type: "nonConsumable")
        #expect(
            read.problems == [" must be left out: a nonConsumable does not renew automatically"]
        )
    }

    @Test func buyersSeeTheOfferInItsStorefront() async throws {
        try await withCatalog { catalog in
            var draft = Builder.subscription()
            draft.prices[Builder.france] = Builder.money(499, "EUR")
            draft.introductoryOffer = OfferTerms(
                mode: .payAsYouGo,
                period: SubscriptionPeriod(1, .month),
                numberOfPeriods: 2,
                prices: [Builder.usa: Builder.money(99, "USD")]
            )
            #expect(try await catalog.put(Builder.premium, draft).status == 201)
            let listing = try await catalog.products("com.example.premium").products.first
            #expect(
                listing?.introductoryOffer
                    == OfferListing(
                        mode: .payAsYouGo,
                        period: SubscriptionPeriod(1, .month),
                        numberOfPeriods: 2,
                        price: Builder.money(99, "USD")
                    )
            )
            let product = Builder.product(draft: draft)
            let french = PriceList().listing(of: product, in: Builder.france, language: Builder.en)
            #expect(french?.price == Builder.money(499, "EUR"))
            #expect(french?.introductoryOffer == nil)
            let exported = try await catalog.admin(.GET, Routes.adminCatalog)
                .decode(CatalogDocument.self)
            #expect(
                exported.products[Builder.premium]?.introductoryOffer == draft.introductoryOffer
            )
            // The next version has no offer.
            #expect(try await catalog.put(Builder.premium, Builder.subscription()).status == 200)
            let without = try await catalog.products("com.example.premium").products.first
            #expect(without?.introductoryOffer == nil)
        }
    }
}

import EventTypes
import StoreAPI
import Testing

@testable import Catalog

/// The promotional offers that administrators may make (rules S40, S41 and S49).
@Suite struct PromotionalOfferTests {
    private func read(
        _ offers: String,
        type: String = "autoRenewableSubscription"
    ) throws -> (draft: ProductDraft?, problems: [String]) {
        try ClubDraft.read(offers, as: "promotionalOffers", type: type)
    }

    private func offer(_ id: String, _ more: String = "", cents: Int = 99) -> String {
        ClubDraft.offer(id, more, cents: cents)
    }

    private func product(_ offers: String) throws -> Product {
        let draft = try #require(try read(offers).draft)
        let id = ProductID(unchecked: "club")
        let decision = ProductRules.decide(
            ProductRules.Edit(id: id, wish: .put(draft)),
            current: nil
        )
        return try #require(decision.written)
    }

    @Test func offersAreTakenAndShownWhileTheyAreActive() throws {
        let product = try product(
            #"[\#(offer("spring")), \#(offer("autumn", #""isActive": false,"#))]"#
        )
        #expect(product.promotionalOffers.map(\.id.rawValue) == ["spring", "autumn"])
        #expect(product.promotionalOffers.map(\.isActive) == [true, false])
        #expect(ProductRules.draft(of: product).promotionalOffers == product.promotionalOffers)
        let english = LanguageTag(unchecked: "en")
        var prices = PriceList()
        prices.merge([product])
        func shown(in storefront: Storefront) -> [NamedOfferListing]? {
            prices.listing(of: product, in: storefront, language: english)?.promotionalOffers
        }
        let listings = try #require(shown(in: Builder.usa))
        #expect(listings.map(\.id.rawValue) == ["spring"])
        #expect(listings.first?.terms.price == Builder.money(99, "USD"))
        #expect(listings.first?.terms.numberOfPeriods == 3)
    }

    @Test func anEditWithoutOffersRemovesThem() throws {
        let product = try product("[\(offer("spring"))]")
        let draft = try #require(try read("null").draft)
        let decision = ProductRules.decide(
            ProductRules.Edit(id: product.id, wish: .put(draft)),
            current: product
        )
        #expect(decision.written?.promotionalOffers == [])
        #expect(decision.written?.version == 2)
    }

    @Test func offersThatCannotBeReadAreRefused() throws {
        func problems(_ offers: String) throws -> [String] { try read(offers).problems }
        #expect(try problems("3") == [" is a whole number, not an array"])
        #expect(
            try problems("[{}]") == [
                "[0].id is missing", "[0].mode is missing", "[0].period is missing",
                "[0].prices is missing",
            ]
        )
        #expect(
            try problems("[\(offer("two words"))]") == [
                "[0].id is 'two words', not \(OfferID.form)"
            ]
        )
        #expect(
            try problems("[\(offer("spring")), \(offer("spring"))]") == ["[1].id is given twice"]
        )
        #expect(
            try problems("[\(offer("spring", cents: 499))]") == [
                "[0].prices.USA must be below 4.99 USD, the ordinary price of the same time"
            ]
        )
        #expect(
            try read("[\(offer("spring"))]", type: "consumable").problems.first
                == " must be left out: a consumable does not renew automatically"
        )
    }

    @Test func tenOffersOfAProductAreActive() throws {
        let offers = (1...10).map { offer("offer\($0)") }
        let idle = offer("idle", #""isActive": false,"#)
        let ten = "[\((offers + [idle]).joined(separator: ", "))]"
        #expect(try read(ten).problems == [])
        let eleven = "[\((offers + [offer("more")]).joined(separator: ", "))]"
        #expect(try read(eleven).problems == [" must hold at most 10 active offers"])
    }
}

import EventTypes
import StoreAPI
import Testing

@testable import Catalog

/// The code offers that administrators may make (rule S54).
@Suite struct CodeOfferTests {
    private func read(_ offers: String) throws -> (draft: ProductDraft?, problems: [String]) {
        try ClubDraft.read(offers, as: "codeOffers")
    }

    private func offer(_ more: String = "", id: String = "spring") -> String {
        ClubDraft.offer(id, more)
    }

    @Test func anOfferIsForEverybodyUnlessItSaysForWhom() throws {
        let customers = #""customers": ["expired", "new"], "isStackable": true,"#
        let draft = try #require(
            try read("[\(offer()), \(offer(customers, id: "autumn"))]").draft
        )
        let offers = try #require(draft.codeOffers)
        #expect(offers.map(\.customers) == [CustomerKind.all, [.new, .expired]])
        #expect(offers.map(\.isStackable) == [false, true])
        let decision = ProductRules.decide(
            ProductRules.Edit(id: ProductID(unchecked: "club"), wish: .put(draft)),
            current: nil
        )
        let product = try #require(decision.written)
        #expect(product.codeOffers == offers)
        #expect(ProductRules.draft(of: product).codeOffers == offers)
        // Only who has a code sees the offer.
        var prices = PriceList()
        prices.merge([product])
        let english = LanguageTag(unchecked: "en")
        let listing = prices.listing(of: product, in: Builder.usa, language: english)
        #expect(listing != nil && listing?.promotionalOffers == nil)
    }

    @Test func customersThatCannotBeReadAreRefused() throws {
        func problems(_ customers: String) throws -> [String] {
            try read("[\(offer(#""customers": \#(customers),"#))]").problems
        }
        #expect(
            try problems("[]") == ["[0].customers must name at least one of new, active, expired"]
        )
        #expect(try problems("3") == ["[0].customers is a whole number, not an array"])
        #expect(
            try problems(#"["cat"]"#) == [
                "[0].customers[0] is 'cat'; it must be one of new, active, expired"
            ]
        )
        #expect(try problems(#"["new", "new"]"#) == ["[0].customers[1] is given twice"])
    }

    @Test func anOfferHasTheRulesOfAllOffers() throws {
        #expect(try read("[\(offer()), \(offer())]").problems == ["[1].id is given twice"])
        let offers = (1...11).map { offer(id: "offer\($0)") }.joined(separator: ", ")
        #expect(try read("[\(offers)]").problems == [" must hold at most 10 active offers"])
    }
}

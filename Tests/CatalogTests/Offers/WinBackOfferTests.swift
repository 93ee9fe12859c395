import EventTypes
import StoreAPI
import Testing

@testable import Catalog

/// The win-back offers that administrators may make (rule S59).
@Suite struct WinBackOfferTests {
    private func read(_ offers: String) throws -> (draft: ProductDraft?, problems: [String]) {
        try ClubDraft.read(offers, as: "winBackOffers")
    }

    private func offer(_ more: String = "", id: String = "back") -> String {
        ClubDraft.offer(id, more)
    }

    @Test func anOfferIsForAllWhoHavePaidUnlessItSaysMore() throws {
        let conditions = #"""
            "priority": "high", "paidMonths": 36, "monthsSinceEnd": 2, "monthsSinceEndMax": 12,
            "waitMonths": 6, "startsAt": 1800000000000, "endsAt": 1800259200000,
            """#
        let draft = try #require(
            try read("[\(offer()), \(offer(conditions, id: "late"))]").draft
        )
        let offers = try #require(draft.winBackOffers)
        #expect(offers[0] == WinBackOffer(id: offers[0].id, terms: offers[0].terms))
        #expect(offers[1].priority == .high && offers[1].paidMonths == 36)
        #expect(offers[1].monthsSinceEnd == 2 && offers[1].monthsSinceEndMax == 12)
        #expect(offers[1].waitMonths == 6)
        let time = try #require(offers[1].startsAt)
        #expect(offers[1].endsAt == time.advanced(by: .seconds(3 * 86_400)))
        let decision = ProductRules.decide(
            ProductRules.Edit(id: ProductID(unchecked: "club"), wish: .put(draft)),
            current: nil
        )
        let product = try #require(decision.written)
        #expect(product.winBackOffers == offers)
        #expect(ProductRules.draft(of: product).winBackOffers == offers)
        // Everybody sees an offer in its time.
        var prices = PriceList()
        prices.merge([product])
        let english = LanguageTag(unchecked: "en")
        func shown(_ time: StoreTime) -> [OfferID]? {
            prices.listing(of: product, in: Builder.usa, language: english, at: time)?
                .winBackOffers?.map(\.id)
        }
        let early = time.advanced(by: .milliseconds(-1))
        #expect(shown(early) == [offers[0].id])
        #expect(shown(time) == offers.map(\.id))
    }

    @Test(arguments: [
        (#""paidMonths": 25,"#, "paidMonths is 25; it must be from 1 to 24, 36, 48 or 60"),
        (#""waitMonths": 1,"#, "waitMonths is 1; it must be from 2 to 24"),
        (#""priority": "urgent","#, "priority is 'urgent'; it must be high or normal"),
        (
            #""monthsSinceEnd": 3, "monthsSinceEndMax": 2,"#,
            "monthsSinceEndMax is 2, which is below monthsSinceEnd"
        ),
        (
            #""startsAt": 1800000000000, "endsAt": 1800259199999,"#,
            "endsAt must be at least three days after startsAt"
        ),
        (#""size": 2,"#, "size is not a field of the catalog"),
    ])
    func conditionsThatCannotBeAreRefused(more: String, problem: String) throws {
        #expect(try read("[\(offer(more))]").problems == ["[0].\(problem)"])
    }

    /// Otherwise an export could not be imported again.
    @Test func theTimeOfAnOfferMayBeOver() throws {
        let times = #""startsAt": 1600000000000, "endsAt": 1600259200000,"#
        #expect(try read("[\(offer(times))]").problems == [])
    }

    @Test func fiveAreActiveAtMost() throws {
        let offers = (1...6).map { offer(id: "offer\($0)") }.joined(separator: ", ")
        #expect(try read("[\(offers)]").problems == [" must hold at most 5 active offers"])
        #expect(try read("[\(offer()), \(offer())]").problems == ["[1].id is given twice"])
    }
}

import EventTypes
import StoreAPI
import Testing

@testable import Operator

/// The promotional offers in Xcode's StoreKit files.
@Suite struct StoreKitOfferTests {
    private func read(_ offers: String) throws -> StoreKitReader.Content {
        try ClubFile.read(offers, as: "adHocOffers")
    }

    private static let spring = """
        {"offerID": "spring", "referenceName": "Spring", "paymentMode": "payAsYouGo",
         "numberOfPeriods": 3, "displayPrice": "0.99"}
        """

    @Test func aPromotionalOfferIsReadAndWritten() throws {
        let content = try read("[\(Self.spring)]")
        let text = "with the promotional offer spring: payAsYouGo, 3 times P1M, 0.99 USD"
        #expect(content.notes.map(\.description).contains("taken: product app.club \(text)"))
        let offers = try #require(content.products[ClubFile.club]?.promotionalOffers)
        #expect(offers.map(\.id.rawValue) == ["spring"])
        let document = CatalogDocument(products: content.products)
        let written = try StoreKitWriter.write(document, in: ClubFile.usa)
        let again = try StoreKitReader.read(written.file).products[ClubFile.club]
        #expect(again?.promotionalOffers == offers)
    }

    @Test(arguments: [
        (#"{"offerID": "two words"}"#, "an offer whose offerID 'two words' is not \(OfferID.form)"),
        (
            #"{"offerID": "spring", "paymentMode": "barter"}"#,
            "the offer spring with the paymentMode 'barter'"
        ),
    ])
    func anOfferThatCannotBeReadIsWrong(offer: String, problem: String) throws {
        let content = try read("[\(offer)]")
        #expect(!content.isUsable)
        #expect(content.notes.map(\.description).contains("wrong: product app.club has \(problem)"))
    }

    @Test func anImportKeepsWhatTheFileCannotKnow() throws {
        let content = try read("[\(Self.spring)]")
        let france = Storefront(unchecked: "FRA")
        let euros = Money(minorUnits: 89, currency: Currency(unchecked: "EUR"))
        var current = try #require(content.products[ClubFile.club])
        current.promotionalOffers?[0].isActive = false
        current.promotionalOffers?[0].terms.prices = [france: euros]
        func merged(_ file: StoreKitReader.Content) -> [PromotionalOffer]? {
            StoreKitMerge.document(file, onto: CatalogDocument(products: [ClubFile.club: current]))
                .products[ClubFile.club]?.promotionalOffers
        }
        let offer = try #require(merged(content)?.first)
        #expect(offer.terms.prices.count == 2 && !offer.isActive)
        // A file without the offer ends it in the file's storefront alone.
        let empty = try read("[]")
        #expect(merged(empty) == current.promotionalOffers)
        current.promotionalOffers = content.products[ClubFile.club]?.promotionalOffers
        #expect(merged(empty) == nil)
    }
}
